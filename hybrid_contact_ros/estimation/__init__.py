"""What the sensors say: contact tracking, events, momentum observer."""
