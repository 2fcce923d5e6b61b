"""The only place that knows messages: conversions, parameters, QoS, diagnostics."""
