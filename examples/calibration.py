"""Prints how often 5-minute BTC markets resolved Up, by the price they had a minute before their end. Standard library only."""

import json
import os
import urllib.request

BASE = os.environ.get("BASE", "http://127.0.0.1:8080")
request = urllib.request.Request(
    f"{BASE}/v1/stats/calibration?ticker=BTC&event_type=5m",
    headers={"Authorization": f"Bearer {os.environ['KEY']}"},
)
with urllib.request.urlopen(request) as answer:
    calibration = json.load(answer)

for bucket in calibration["buckets"]:
    print(f"{bucket['prob_lo']:.1f} to {bucket['prob_hi']:.1f}: {bucket['n_markets']} markets, Up {bucket['frac_resolved_up']}")
