// The audit: residuals as they come against the threshold, and by stratum.

import { Chart } from "./chart.js";
import { later } from "./later.js";
import { bytes, count, dash, label, share, time } from "./units.js";

const most = 500; // residuals remembered; more are one blot, and slow to paint
const span = 120; // seconds in sight
const drawEvery = 4; // frames: two seconds, for residuals come by the dozen

// mostResidual is the largest residual that is drawn in its place, 400 %: beyond is
// withholding in any stratum, and would flatten the rest.
export const mostResidual = 4;

const titles = ["Size, round trip", "Threshold", "Residuals", "Fetches", "Groups voting", "Before clamp"];

const range = (from, to, words) => to ? `${from ? words(from) : "0"} to ${words(to)}` : `from ${words(from)}`;

export class Audit {
  constructor() {
    this.root = document.getElementById("audit");
    this.seen = new Map(); // peer to its last fetch, as text
    this.at = [];
    this.residual = [];
    this.over = [];
    this.threshold = [];
    this.rows = new Map(); // stratum to its row
    this.frames = 0;
    this.visible = false;
    new IntersectionObserver(entries => {
      this.visible = entries.at(-1).isIntersecting;
      this.frames = 0;
    }).observe(this.root);
  }

  show(frame, table) {
    if (this.root.hidden === frame.ranked) this.root.hidden = !frame.ranked;
    if (!frame.ranked) return;
    const now = frame.sent / 1000;
    this.gather(table, now);
    if (!this.visible || this.frames++ % drawEvery !== 0) return;
    later("residuals", () => this.draw(now));
    later("strata", () => this.strata(frame.audit));
    later("free", () => this.free(frame.audit.free));
  }

  draw(now) {
    this.chart ??= new Chart(document.getElementById("audit-chart"), "Residuals as they come",
      [{ name: "threshold", colour: "--bad", points: true }, { name: "within it, latest", colour: "--plot-1", points: true }, { name: "above it, latest", colour: "--plot-2", points: true }], share, span, mostResidual);
    this.chart.set(this.at, [this.threshold, this.residual, this.over], now);
  }

  // gather notes each fetch that was judged since the last frame.
  gather(table, now) {
    const seen = new Map(), { claim, actual, residual, threshold } = table.columns;
    for (let i = 0; i < table.length; i++) {
      const outcome = table.outcome(i), peer = table.name(i);
      if (!outcome) continue;
      const key = `${claim[i]} ${actual[i]} ${residual[i]}`;
      seen.set(peer, key);
      if (this.seen.get(peer) === key || !threshold[i] || !["judged", "censored"].includes(outcome)) continue;
      const over = residual[i] > threshold[i];
      this.at.push(now);
      this.residual.push(over ? null : Math.max(0, residual[i]));
      this.over.push(over ? residual[i] : null);
      this.threshold.push(threshold[i]);
    }
    this.seen = seen;
    const old = Math.max(this.at.findIndex(t => t > now - span), this.at.length - most, 0);
    for (const values of [this.at, this.residual, this.over, this.threshold]) values.splice(0, old);
  }

  strata(audit) {
    if (!this.table) this.build();
    const found = new Set();
    for (const s of audit.strata) {
      const key = `${s.size_from} ${s.rtt_from} ${s.lossy}`;
      found.add(key);
      const row = this.rows.get(key) || this.row(key);
      const now = JSON.stringify(s);
      if (row.now === now) continue;
      row.now = now;
      later("stratum " + key, () => this.stratum(row.element, s, audit.bounds));
    }
    for (const [key, row] of this.rows) {
      if (found.has(key)) continue;
      row.element.remove();
      this.rows.delete(key);
    }
  }

  // stratum draws one of them.
  stratum(element, s, bounds) {
    const texts = [
      `${range(s.size_from, s.size_to, bytes)}${s.lossy ? ", lossy" : ""}\n${range(s.rtt_from, s.rtt_to, time)}`,
      share(s.threshold) + (s.thin ? "\ntoo few vote" : s.merged ? "\nof merged strata" : ""), "", count(s.count), String(s.voters), s.raw ? share(s.raw) : dash,
    ];
    texts.forEach((text, i) => {
      if (text && element.children[i].textContent !== text) element.children[i].textContent = text;
    });
    element.children[2].replaceChildren(histogram(s, bounds));
  }

  build() {
    this.table = document.createElement("table");
    const head = this.table.createTHead().insertRow();
    for (const title of titles) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = title;
      head.append(cell);
    }
    this.body = this.table.createTBody();
    document.getElementById("strata").append(this.table);
  }

  row(key) {
    const row = { element: this.body.insertRow(), now: "" };
    for (const _ of titles) row.element.insertCell();
    this.rows.set(key, row);
    return row;
  }

  free(rates) {
    const text = rates.map(r => `${label(r.verdict)}: up to ${share(r.rate)} of fetches are never enough for the verdict, ${r.in_a_row} in a row are`);
    const list = document.getElementById("free");
    if (this.freeText === text.join()) return;
    this.freeText = text.join();
    list.replaceChildren(...text.map(t => {
      const item = document.createElement("li");
      item.textContent = t;
      return item;
    }));
  }
}

const svg = (name, attributes) => {
  const e = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  return e;
};

// histogram draws the residuals of a stratum by bucket, and where the threshold is
// among them.
function histogram(s, bounds) {
  const wide = 10, high = 36, top = Math.max(...s.counts, 1);
  const root = svg("svg", { viewBox: `0 0 ${wide * s.counts.length} ${high}`, role: "img", class: "histogram", preserveAspectRatio: "none" });
  const above = s.counts.reduce((sum, n, i) => sum + (i > 0 && bounds[i - 1] >= s.threshold ? n : 0), 0);
  root.setAttribute("aria-label", `${count(s.count)} residuals, ${count(above)} of them in the buckets above the threshold of ${share(s.threshold)}`);
  s.counts.forEach((n, i) => {
    const h = n ? Math.max(2, high * n / top) : 0;
    root.append(svg("rect", { x: i * wide + 1, y: high - h, width: wide - 2, height: h, class: i > 0 && bounds[i - 1] >= s.threshold ? "over" : "within" }));
  });
  const i = bounds.findIndex(b => b >= s.threshold), low = i > 0 ? bounds[i - 1] : 0;
  const x = wide * (i + (s.threshold - low) / (bounds[i] - low || 1));
  root.append(svg("rect", { x: x - 0.75, y: 0, width: 1.5, height: high, class: "threshold" }));
  return root;
}
