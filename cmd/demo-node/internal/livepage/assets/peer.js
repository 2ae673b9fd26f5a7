// The panel of the open peer.

import { mostResidual } from "./audit.js";
import { Bursts } from "./bursts.js";
import { Chart } from "./chart.js";
import { standing, tone } from "./grid.js";
import { Stream } from "./stream.js";
import { bytes, count, dash, label, rate, share, time, times } from "./units.js";

const most = 300; // points, one a second, as the node keeps them

const byId = id => document.getElementById(id);

export class Panel {
  constructor() {
    this.root = byId("peer");
    this.bursts = new Bursts(byId("window-strip"), byId("window-state"), byId("window-closed"));
    this.values = new Map(); // title to dd
  }

  open(name) {
    this.close();
    this.name = name;
    byId("peer-name").textContent = name;
    this.root.hidden = false;
    this.past = null;
    const charts = byId("peer-charts");
    this.charts = {
      rtt: new Chart(charts, "Round trip", [{ name: "p95", colour: "--plot-2" }, { name: "base", colour: "--plot-1" }], time),
      rate: new Chart(charts, "Rate", [{ name: "estimate", colour: "--plot-1" }], rate),
      took: new Chart(charts, "Predicted against actual", [{ name: "ranked by", colour: "--plot-3" }, { name: "predicted", colour: "--plot-1", points: true }, { name: "actual", colour: "--plot-2", points: true }], time),
      residual: new Chart(charts, "Residual against threshold", [{ name: "threshold", colour: "--bad", points: true }, { name: "residual", colour: "--plot-1", points: true }], share, most, mostResidual),
    };
    this.stream = new Stream("/live/peer?name=" + encodeURIComponent(name), {
      history: past => this.setPast(past),
      point: past => this.addPoints(past),
      window: w => {
        this.window = w;
        this.schedule();
      },
      gone: () => byId("window-state").textContent = "Not connected any more.",
    });
  }

  close() {
    if (!this.stream) return;
    this.stream.close();
    this.stream = null;
    for (const chart of Object.values(this.charts)) chart.close();
    byId("peer-charts").replaceChildren();
    this.bursts.reset();
    this.window = null;
    this.root.hidden = true;
    this.name = null;
  }

  // schedule draws the newest window once a frame, and none while nobody looks.
  schedule() {
    if (this.due) return;
    this.due = requestAnimationFrame(() => {
      this.due = 0;
      if (this.stream && this.window) this.bursts.take(this.window);
    });
  }

  setPast(past) {
    this.past = past;
    this.draw();
  }

  addPoints(past) {
    if (!this.past) return this.setPast(past);
    const newest = this.past.at.at(-1) ?? -1;
    past.at.forEach((at, i) => {
      if (at <= newest) return;
      for (const name of Object.keys(past)) this.past[name].push(past[name][i]);
    });
    for (const values of Object.values(this.past)) values.splice(0, values.length - most);
    this.draw();
  }

  draw() {
    const p = this.past, now = p.at.at(-1) ?? 0;
    this.charts.rtt.set(p.at, [p.p95, p.base], now);
    this.charts.rate.set(p.at, [p.rate], now);
    this.charts.took.set(p.at, [p.expected, p.claim, p.actual], now);
    this.charts.residual.set(p.at, [p.threshold, p.residual], now);
  }

  // show takes in the peer's row, undefined if it has left.
  show(row, rank, frame) {
    if (!this.name) return;
    const verdict = byId("peer-verdict");
    if (!row) {
      verdict.textContent = "This peer has left.";
      return;
    }
    verdict.dataset.tone = tone(row);
    const text = (frame.ranked ? standing(row) + ": " + (row.reason || dash) : "Not ranked: nothing chooses among the peers here") + ".";
    if (verdict.textContent !== text) verdict.textContent = text;
    for (const [title, value] of this.figures(row, rank, frame)) this.figure(title, value);
  }

  figures(row, rank, frame) {
    const all = [
      ["Rank", frame.ranked ? String(rank) : dash],
      ["Group", row.group || dash],
      ["Round trip", `${time(row.base)}, p95 ${time(row.p95)}`],
      ["Rate", rate(row.rate) + (row.error ? ` \u00b1 ${share(row.error)}` : "")],
      ["Coverage", bytes(row.coverage)],
    ];
    if (!frame.ranked) return all;
    const l = row.last;
    return all.concat([
      [`Expected for ${bytes(frame.size)}`, `${time(row.expected)}, ${share(row.measured || 0)} measured`],
      ["Its own rate claims", time(row.claim)],
      ["Calibration, penalty", `${times(row.calibration)}, ${times(row.penalty)}`],
      ["Last fetch", l && l.claim ? `predicted ${time(l.claim)}, took ${time(l.actual)}` : dash],
      ["Residual, threshold", l && l.threshold ? `${share(l.residual)}, ${share(l.threshold)} (${label(l.outcome)})` : l ? label(l.outcome) : dash],
      ["Fetches", `${count(row.completions)} completed, ${count(row.failures)} failed, ${count(row.picked)} picked`],
      ["Delivered", bytes(row.bytes)],
    ]);
  }

  // figure sets one of the list. A title that changes with the size stays in place.
  figure(title, value) {
    const key = title.replace(/ for .*/, "");
    let pair = this.values.get(key);
    if (!pair) {
      pair = [document.createElement("dt"), document.createElement("dd")];
      this.values.set(key, pair);
      const group = document.createElement("div");
      group.append(...pair);
      byId("peer-figures").append(group);
    }
    if (pair[0].textContent !== title) pair[0].textContent = title;
    if (pair[1].textContent !== value) pair[1].textContent = value;
  }
}
