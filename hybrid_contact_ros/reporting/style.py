"""How the page looks, light and dark."""

STYLE = """
:root { --back: #f6f7f9; --card: #ffffff; --text: #22262a; --soft: #656d76; --line: #e3e6ea; --mark: #1f77b4;
  --bad: #c62828; color-scheme: light; }
[data-theme=dark] { --back: #14181c; --card: #1c2126; --text: #e3e6ea; --soft: #9aa4ae; --line: #2d343b;
  --mark: #6fb3e8; --bad: #ff7b72; color-scheme: dark; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
main { max-width: 1240px; margin: 0 auto; padding: 20px 24px 60px; }
header { display: flex; align-items: baseline; gap: 16px; }
h1 { font-size: 24px; margin: 8px 0; font-weight: 600; overflow-wrap: anywhere; }
h2 { font-size: 17px; margin: 2px 0 6px; font-weight: 600; }
h2.part { margin: 30px 4px 8px; font-size: 19px; }
.soft, figcaption { color: var(--soft); font-size: 13px; }
figcaption { margin: 0 0 4px; max-width: 140ch; }
.card, figure { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px;
  margin: 12px 0; }
figure h3 { font-size: 15px; margin: 0; font-weight: 600; }
.two { display: grid; grid-template-columns: repeat(auto-fit, minmax(440px, 1fr)); gap: 0 12px; }
.two > * { min-width: 0; }
ul.head { margin: 4px 0; padding-left: 20px; } ul.head li { margin: 3px 0; }
ul.head li:nth-child(2) { font-weight: 600; }
#bar { position: sticky; top: 0; z-index: 20; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; padding: 6px 12px 2px; margin: 12px 0; box-shadow: 0 2px 8px #0002; }
#bar .soft { display: flex; gap: 16px; align-items: center; }
figure { scroll-margin-top: 150px; }
button, select { font: inherit; font-size: 13px; color: var(--text); background: var(--back);
  border: 1px solid var(--line); border-radius: 6px; padding: 2px 10px; cursor: pointer; max-width: 100%; }
button:hover { border-color: var(--mark); }
header button { margin-left: auto; }
ol.worst { margin: 4px 0; padding: 0; list-style: none; }
ol.worst button { border: 0; background: none; text-align: left; padding: 2px 6px; width: 100%; font-size: 14px; }
ol.worst button:hover { background: var(--back); }
ol.worst .at { color: var(--mark); display: inline-block; min-width: 92px; font-variant-numeric: tabular-nums; }
ol.worst .kind { display: inline-block; min-width: 70px; color: var(--bad); font-size: 12px; }
.empty { color: var(--soft); font-style: italic; margin: 6px 0; }
.warn { color: var(--bad); margin: 4px 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; margin: 6px 0; }
td, th { text-align: left; padding: 2px 14px 2px 0; border-bottom: 1px solid var(--line); vertical-align: top;
  overflow-wrap: anywhere; }
td:first-child { white-space: nowrap; }
noscript { color: var(--bad); }
"""
