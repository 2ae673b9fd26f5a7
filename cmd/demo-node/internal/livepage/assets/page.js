// Puts the page together: each frame of the node's is the whole state, and is drawn
// once the browser is ready for it.

import { Audit } from "./audit.js";
import { Grid } from "./grid.js";
import { Panel } from "./peer.js";
import { Stream } from "./stream.js";
import { Table } from "./table.js";
import { bytes, count, label, time } from "./units.js";

const byId = id => document.getElementById(id);
const narrow = matchMedia("(max-width: 899px)");

const panel = new Panel(), audit = new Audit(), grid = new Grid(byId("grid"), open);
let frame = null, table = null, due = 0, told = -1, spoken = 0;

function open(name) {
  panel.open(name);
  document.body.classList.add("opened");
  grid.setOpened(name);
  cover();
  draw();
  byId("peer-name").focus();
}

function close() {
  if (!panel.name) return;
  panel.close();
  document.body.classList.remove("opened");
  grid.setOpened(null);
  cover();
  byId("grid").focus();
}

// cover takes what the panel hides on a narrow screen out of reach.
function cover() {
  const covered = narrow.matches && panel.name !== null && panel.name !== undefined;
  for (const id of ["top", "ranking", "audit", "happened"]) byId(id).inert = covered;
}

function schedule() {
  due ||= requestAnimationFrame(() => {
    due = 0;
    draw();
    const { number, sent } = frame;
    // By the next animation frame this one is painted.
    requestAnimationFrame(() => document.dispatchEvent(new CustomEvent("painted", { detail: { number, sent } })));
  });
}

function draw() {
  if (!frame) return;
  const sought = byId("find").value.trim().toLowerCase();
  const places = [];
  let rank = 0;
  for (let i = 0; i < table.length; i++) {
    const name = table.name(i);
    if (name === panel.name) rank = i + 1;
    if (!sought || `${name} ${table.group(i)} ${label(table.verdict(i))}`.toLowerCase().includes(sought)) places.push(i);
  }
  document.body.classList.toggle("unranked", !frame.ranked);
  grid.show(table, places);
  panel.show(rank, frame, rank ? table.row(rank - 1) : null);
  summary(frame, places.length);
  audit.show(frame, table);
  events(frame.events);
}

function write(id, text) {
  const e = byId(id);
  if (e.textContent !== text) e.textContent = text;
  e.hidden = text === "";
}

function summary(f, shown) {
  const n = f.node;
  write("ranking-title", (f.ranked ? `Peers, by ${bytes(f.size)}` : "Peers, by rate") + (shown < table.length ? `: ${shown} of ${table.length}` : ""));
  write("summary", `${count(n.peers)} ${n.peers === 1 ? "peer" : "peers"}` + (f.ranked
    ? ` in ${count(n.groups)} ${n.groups === 1 ? "group" : "groups"}, ${count(n.demoted)} demoted; ${count(n.completions)} fetches completed, ${count(n.failures)} failed, ${count(n.hedges)} hedged` + (n.ours ? `; ${time(n.ours)} of our own doing` : "")
    : ""));
  write("held", n.held ? `Verdicts are held, since we suspect ourselves: ${label(n.held)}.` : "");
  write("hidden-peers", f.hidden ? `${count(f.hidden)} more are not shown.` : "");
}

// events lists what happened, the newest first, and has verdicts read out.
function events(list) {
  byId("happened").hidden = list.length === 0;
  const newest = list.at(-1)?.number ?? -1;
  if (newest === told) return;
  const verdict = list.findLast(e => e.number > told && ["verdict_changed", "demoted", "redeemed"].includes(e.kind));
  told = newest;
  byId("events").replaceChildren(...list.toReversed().map(e => {
    const item = document.createElement("li"), at = document.createElement("span"), what = document.createElement("b");
    at.className = "soft";
    at.textContent = `${e.at.toFixed(1)} s `;
    what.textContent = label(e.kind) + (e.peer ? ` ${e.peer}` : "");
    item.append(at, what, e.detail ? `: ${label(e.detail)}` : "");
    return item;
  }));
  if (verdict && Date.now() - spoken > 5000) { // no faster than it can be read out
    spoken = Date.now();
    byId("said").textContent = `${verdict.peer} ${label(verdict.kind)}: ${verdict.detail}`;
  }
}

byId("peer-close").addEventListener("click", close);
byId("find").addEventListener("input", draw);
document.addEventListener("keydown", e => {
  if (e.key === "Escape") close();
});
narrow.addEventListener("change", cover);

new Stream("/live/frames", {
  frame: f => {
    frame = f;
    table = new Table(f.peers);
    schedule();
  },
}, state => {
  const link = byId("link");
  link.dataset.state = state;
  link.textContent = state === "live" ? "live" : "connection lost, trying again";
});
