// Work that can wait: it is done in small steps, each when the browser has nothing
// to paint, so that an update of the ranks never waits for a chart.

const patience = 1000; // ms after which a step is done all the same; longer lets a busy page's charts stand still
const waiting = new Map(); // what to do, by whom; the newest of each
let due = 0;

// later has work done soon, instead of what the same key waits for.
export function later(key, work) {
  waiting.set(key, work);
  due ||= ask(step, { timeout: patience });
}

// Some browsers have no word for idle.
const ask = window.requestIdleCallback?.bind(window) ?? (work => setTimeout(work, 50));

function step(deadline) {
  due = 0;
  for (const [key, work] of waiting) {
    waiting.delete(key);
    work();
    if (!deadline || deadline.timeRemaining() < 4) break; // a chart takes a few ms
  }
  if (waiting.size) due = ask(step, { timeout: patience });
}
