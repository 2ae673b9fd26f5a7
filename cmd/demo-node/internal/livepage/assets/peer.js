// The panel of the open peer.

import { mostResidual } from "./audit.js";
import { Bursts } from "./bursts.js";
import { Chart } from "./chart.js";
import { standing, tone } from "./grid.js";
import { later } from "./later.js";
import { Stream } from "./stream.js";
import { bytes, count, dash, label, rate, share, time, times } from "./units.js";

const most = 300; // points, one a second, as the node keeps them

const byId = id => document.getElementById(id);

// drawn is what of the past each chart shows.
const drawn = { rtt: ["p95", "base"], rate: ["rate"], took: ["expected", "claim", "actual"], residual: ["threshold", "residual"] };

// key is a title without what changes in it.
const key = title => title.replace(/ for .*/, "");

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
    this.past = this.row = this.window = this.frame = null;
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
      row: row => {
        this.row = row;
        this.schedule();
      },
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
    this.charts = null;
    byId("peer-charts").replaceChildren();
    this.bursts.reset();
    this.window = null;
    this.root.hidden = true;
    this.name = null;
  }

  // schedule draws the newest window and figures once a frame, and none while nobody
  // looks.
  schedule() {
    if (this.due) return;
    this.due = requestAnimationFrame(() => {
      this.due = 0;
      if (this.stream && this.window) this.bursts.take(this.window);
      this.fill();
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
    for (const [name, columns] of Object.entries(drawn)) {
      later(name, () => {
        if (!this.charts) return;
        const p = this.past;
        this.charts[name].set(p.at, columns.map(column => p[column]), p.at.at(-1) ?? 0);
      });
    }
  }

  // show takes in the newest frame, in which the peer has a rank, 0 if it has left,
  // and what the list shows of it.
  show(rank, frame, listed) {
    if (!this.name) return;
    this.rank = rank;
    this.frame = frame;
    this.listed = listed;
    for (const name of ["took", "residual"]) this.charts[name].hide(!frame.ranked);
    this.fill();
  }

  // fill writes what is known of the peer.
  fill() {
    const { row, rank, frame, listed } = this;
    if (!this.name || !frame) return;
    const verdict = byId("peer-verdict");
    let text = "This peer has left.";
    if (rank) {
      verdict.dataset.tone = tone(listed);
      text = (frame.ranked ? standing(listed) + ": " + (listed.reason || dash) : "Not ranked: nothing chooses among the peers here") + ".";
    }
    if (verdict.textContent !== text) verdict.textContent = text;
    byId("peer-figures").hidden = !row; // until the peer's own stream has brought them
    if (!rank || !row) return;
    const figures = this.figures(row, rank, frame), titles = new Set(figures.map(([title]) => key(title)));
    for (const [title, value] of figures) this.figure(title, value);
    for (const [title, [dt]] of this.values) if (dt.parentNode.hidden === titles.has(title)) dt.parentNode.hidden = !titles.has(title);
  }

  figures(row, rank, frame) {
    const all = [
      ["Round trip", `${time(row.base)}, p95 ${time(row.p95)}`],
      ["Rate", rate(row.rate) + (row.error ? ` \u00b1 ${share(row.error)}` : "")],
      ["Coverage", bytes(row.coverage)],
    ];
    if (!frame.ranked) return all;
    const l = row.last;
    return [["Rank", String(rank)], ["Group", row.group || dash], ...all,
      [`Expected for ${bytes(frame.size)}`, `${time(row.expected)}, ${share(row.measured || 0)} measured`],
      ["Its own rate claims", time(row.claim)],
      ["Calibration, penalty", `${times(row.calibration)}, ${times(row.penalty)}`],
      ["Last fetch", l && l.claim ? `predicted ${time(l.claim)}, took ${time(l.actual)}` : dash],
      ["Residual, threshold", l && l.threshold ? `${share(l.residual)}, ${share(l.threshold)} (${label(l.outcome)})` : l ? label(l.outcome) : dash],
      ["Fetches", `${count(row.completions)} completed, ${count(row.failures)} failed, ${count(row.picked)} picked`],
      ["Delivered", bytes(row.bytes)],
    ];
  }

  // figure sets one of the list. A title that changes with the size stays in place.
  figure(title, value) {
    let pair = this.values.get(key(title));
    if (!pair) {
      pair = [document.createElement("dt"), document.createElement("dd")];
      this.values.set(key(title), pair);
      const group = document.createElement("div");
      group.append(...pair);
      byId("peer-figures").append(group);
    }
    if (pair[0].textContent !== title) pair[0].textContent = title;
    if (pair[1].textContent !== value) pair[1].textContent = value;
  }
}
