"""What the page does in the browser, beside what Bokeh does by itself."""

VIEW = """
// Of each line and band: what is in the window, the first, least, greatest and last value of each column of pixels.
const columns = Math.max(400, Math.min(2400, window.innerWidth));
let low, high, width;
function place(x, value) {
  let a = 0, b = x.length;
  while (a < b) { const c = (a + b) >> 1; if (x[c] < value) a = c + 1; else b = c; }
  return a;
}
function line(x, y, a, b) {
  if (b - a <= 4 * columns) return {x: x.subarray(a, b), y: y.subarray(a, b)};
  const xs = [], ys = [];
  let i = a;
  while (i < b) {
    const end = x[i] + width, first = i;
    let least = -1, most = -1, hole = false;
    for (; i < b && (x[i] < end || i == first); i++) {
      if (isNaN(y[i])) { hole = true; continue; }
      if (least < 0 || y[i] < y[least]) least = i;
      if (most < 0 || y[i] > y[most]) most = i;
    }
    const some = hole ? [first, least, most] : [first, Math.min(least, most), Math.max(least, most), i - 1];
    for (const k of some) if (k >= 0) { xs.push(x[k]); ys.push(y[k]); }
    if (hole) { xs.push(x[i - 1]); ys.push(NaN); }
  }
  return {x: xs, y: ys};
}
function band(x, low, high, a, b) {  // a polygon for each stretch without NaN
  const xs = [], ys = [], every = b - a <= 2 * columns;
  let px = [], below = [], above = [];
  const close = () => {
    if (px.length > 1) { xs.push(px.concat(px.slice().reverse())); ys.push(above.concat(below.reverse())); }
    px = []; below = []; above = [];
  };
  let i = a;
  while (i < b) {
    const end = x[i] + width, first = i;
    let least = Infinity, most = -Infinity, hole = false;
    for (; i < b && (i == first || (!every && x[i] < end)); i++) {
      if (isNaN(low[i]) || isNaN(high[i])) { hole = true; continue; }
      least = Math.min(least, low[i]); most = Math.max(most, high[i]);
    }
    if (most > -Infinity) { px.push(x[first]); below.push(least); above.push(most); }
    if (hole) close();
  }
  close();
  return {xs: xs, ys: ys};
}
function draw() {
  range.hybrid_waits = false;
  low = range.start; high = range.end; width = (high - low) / columns;
  for (let k = 0; k < whole.length; k++) {
    const d = {};  // plain arrays: those of Bokeh have a shape, and no parts
    for (const [name, all] of Object.entries(whole[k].data)) {
      const kind = all.dtype === 'float64' ? Float64Array : Float32Array;
      d[name] = new kind(all.buffer, all.byteOffset, all.length);
    }
    const a = Math.max(0, place(d.x, low) - 1), b = Math.min(d.x.length, place(d.x, high) + 1);
    view[k].data = d.y ? line(d.x, d.y, a, b) : band(d.x, d.low, d.high, a, b);
  }
}
if (!range.hybrid_waits) { range.hybrid_waits = true; requestAnimationFrame(draw); }  // once a frame
"""
"""Arguments: ``range``, and the lists ``whole`` and ``view`` of sources (:class:`~.plots.Plots`)."""

PAGE = """
(() => {
  const $ = id => document.getElementById(id);
  const model = name => Bokeh.documents[0].get_model_by_name(name);
  const dark = () => document.documentElement.dataset.theme === 'dark';
  function paint() {
    const text = dark() ? '#e3e6ea' : '#2b2f33', faint = dark() ? '#3a4149' : '#e3e6ea';
    for (const one of Bokeh.documents[0]._all_models.values()) {
      const type = one.type || '';
      if (type.endsWith('Axis')) one.setv({axis_label_text_color: text, major_label_text_color: text,
        axis_line_color: faint, major_tick_line_color: faint, minor_tick_line_color: null});
      else if (type === 'Grid') one.setv({grid_line_color: faint});
      else if (type === 'Legend') one.setv({label_text_color: text, inactive_fill_color: dark() ? '#20252b' : 'white'});
      else if (type === 'Figure') one.setv({background_fill_color: null, border_fill_color: null});
      else if ((one.tags || []).includes('truth') && one.fill_color !== undefined)
        one.fill_color = {value: dark() ? '#dfe3e8' : '#3c4043'};
    }
  }
  function theme(name) { document.documentElement.dataset.theme = name; if (window.Bokeh?.documents?.length) paint(); }
  function go(begin, end) {
    const range = model('time');
    const [first, last] = range.bounds;
    range.setv({start: Math.max(first, begin), end: Math.min(last, end)});
  }
  const told = JSON.parse($('impact-data').textContent);
  function impact(k) {
    if (!told.length) return;
    k = (k + told.length) % told.length;
    $('impact').value = k;
    const one = told[k];
    $('impact-said').textContent = one.said;
    one.planes.forEach((plane, p) => {
      for (const [name, points] of Object.entries(plane.points))
        model(`plane${p}: ${name}`).data = {x: points.map(v => v[0]), y: points.map(v => v[1])};
      model(`plane${p}: x`).axis_label = plane.labels[0];
      model(`plane${p}: y`).axis_label = plane.labels[1];
    });
  }
  function ready() {
    paint();
    document.querySelectorAll('button[data-begin]').forEach(one => one.addEventListener('click', () => {
      go(Number(one.dataset.begin), Number(one.dataset.end));
      if (one.dataset.impact) impact(Math.max(0, told.findIndex(each => each.time === Number(one.dataset.impact))));
      $('contacts-panel').scrollIntoView({block: 'start', behavior: 'smooth'});
    }));
    $('theme').addEventListener('click', () => theme(dark() ? 'light' : 'dark'));
    const range = model('time');
    const say = () => { $('window').textContent = `${range.start.toFixed(3)} – ${range.end.toFixed(3)} s`; };
    range.change.connect(say);
    say();
    range.properties.start.change.emit();
    if (told.length) {
      const chosen = $('impact');
      told.forEach((one, k) => chosen.add(new Option(one.title, k)));
      chosen.addEventListener('change', () => impact(Number(chosen.value)));
      $('impact-before').addEventListener('click', () => impact(Number(chosen.value) - 1));
      $('impact-next').addEventListener('click', () => impact(Number(chosen.value) + 1));
      const marks = model('impacts: distance from it');
      if (marks) marks.selected.change.connect(() => {
        if (marks.selected.indices.length) impact(told.findIndex(one => one.mark === marks.selected.indices[0]));
      });
      impact(0);
    }
    document.documentElement.dataset.ready = 'yes';
  }
  theme(window.matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  const wait = () => (window.Bokeh?.documents?.length && Bokeh.documents[0].is_idle ? ready() : setTimeout(wait, 30));
  wait();
})();
"""
