// Looks at the live page of a real node: the demo's cast of honest and bad peers.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { launch, names, out, serious, start, visit } from "./world.mjs";

let browser, node;
before(async () => {
  node = await start(process.env.NODE, ["cast", "--seconds", "40", "--hold", "10m", "--http", "127.0.0.1:0"], "stderr");
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await node?.stop();
});

test("a cast of peers is measured, ranked and judged before one's eyes", async () => {
  const { page, wrong, close } = await visit(browser, node.url);
  const orders = new Set(), gates = new Set();
  const look = async () => {
    orders.add((await names(page)).join());
    for (const gate of await page.$$eval("#grid .body .row:not([hidden])", rows => rows.map(r => r.dataset.gate))) gates.add(gate);
  };
  try {
    for (let i = 0; i < 40; i++) {
      await look();
      await page.waitForTimeout(250);
    }
    await page.waitForFunction(() => [...document.querySelectorAll("#grid .body .row:not([hidden]) .verdict")].some(v => v.textContent.startsWith("proven lie")), null, { timeout: 30000 });
    await look();
    assert.ok(orders.size > 1, "ranks never changed");
    assert.ok(gates.has("open") && gates.has("idle"), `windows seen: ${[...gates]}`);
    const liar = page.locator("#grid .body .row:not([hidden])", { hasText: "proven lie" });
    assert.match(await liar.textContent(), /liar.*demoted/);
    await liar.click();
    assert.match(await page.textContent("#peer-verdict"), /^proven lie, demoted: gave a size that the datum proved false: /);
    await page.waitForTimeout(4000);
    await page.screenshot({ path: join(out, "cast-liar.png"), fullPage: true });
    // And one that serves well has figures, all the way through.
    await page.locator("#grid .body .row:not([hidden])").first().click();
    await page.waitForTimeout(3000);
    const figures = Object.fromEntries(await page.$$eval("#peer-figures > div", all => all.map(d => [d.firstChild.textContent, d.lastChild.textContent])));
    assert.match(figures["Round trip"], /^[\d.]+ m?s, p95 [\d.]+ m?s$/);
    assert.match(figures["Rate"], /^[\d.]+ [kMG]bit\/s/);
    assert.match(figures["Coverage"], /^[\d.]+ [kM]B$/);
    assert.match(figures["Last fetch"], /^predicted [\d.]+ m?s, took [\d.]+ m?s$/);
    assert.deepEqual(await serious(page), []);
    await page.screenshot({ path: join(out, "cast-best.png"), fullPage: true });
    assert.deepEqual(wrong, []);
  } finally {
    await close();
  }
});
