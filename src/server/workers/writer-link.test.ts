import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Counted, FromWriter, Unresponsive } from './messages.ts';
import { createWriterLink } from './writer-link.ts';

const opening = { socket: '/s', file: '/f', build: 'b', isReady: true, isStored: true, banner: null, live: [] };

function linked(timeoutMs = 20_000) {
  const sent: (FromWriter | Counted | Unresponsive)[] = [];
  const link = createWriterLink({ send: (message) => sent.push(message), timeoutMs });
  link.open(() => opening);
  const replaced = () =>
    sent.flatMap((one) => ('message' in one && one.message.kind === 'replaced' ? [one.message] : []));
  return { link, sent, replaced };
}

describe('the writer’s link to its serving workers', () => {
  it('sends nothing while there are no workers', async () => {
    const { link, sent } = linked();
    link.replaced(['p/']);
    await link.workersUpdated();
    expect(sent).toEqual([]);
  });

  it('sends each worker that joins the state of the page store', () => {
    const { link, sent } = linked();
    link.receive({ kind: 'joined', from: 7 });
    expect(sent).toEqual([{ to: 7, message: { kind: 'open', ...opening } }]);
  });

  it('sends one message for all pages replaced in one turn of the event loop, and waits for every worker to confirm', async () => {
    const { link, replaced } = linked();
    link.receive({ kind: 'joined', from: 7 });
    link.receive({ kind: 'joined', from: 8 });
    link.replaced(['p/']);
    link.replaced(['p/latest', 'p/']);
    let heard = false;
    const updated = link.workersUpdated().then(() => {
      heard = true;
    });
    const [message] = replaced();
    expect(message?.names).toEqual(['p/', 'p/latest']);
    link.receive({ kind: 'done', number: message?.number ?? 0, from: 7 });
    await Promise.resolve();
    expect(heard).toBe(false);
    link.receive({ kind: 'done', number: message?.number ?? 0, from: 8 });
    await updated;
    expect(heard).toBe(true);
    expect(replaced()).toHaveLength(1);
  });

  it('sends the banner after earlier replacements, and waits for its confirmation too', async () => {
    const { link, sent } = linked();
    link.banner('<b>no worker hears it</b>');
    link.receive({ kind: 'joined', from: 7 });
    link.replaced(['p/']);
    link.banner('<b>news</b>');
    expect(sent.slice(1).map((one) => 'message' in one && one.message)).toMatchObject([
      { kind: 'replaced', number: 1 },
      { kind: 'banner', number: 2, html: '<b>news</b>' },
    ]);
    let heard = false;
    const updated = link.workersUpdated().then(() => {
      heard = true;
    });
    link.receive({ kind: 'done', number: 1, from: 7 });
    await Promise.resolve();
    expect(heard).toBe(false);
    link.receive({ kind: 'done', number: 2, from: 7 });
    await updated;
  });

  it('does not wait for a worker that joined after the message', async () => {
    const { link, sent, replaced } = linked(5);
    link.receive({ kind: 'joined', from: 7 });
    link.replaced(['p/']);
    const updated = link.workersUpdated();
    link.receive({ kind: 'joined', from: 8 });
    link.receive({ kind: 'done', number: replaced()[0]?.number ?? 0, from: 7 });
    await updated;
    await link.workersUpdated();
    expect(sent.filter((one) => 'unresponsive' in one)).toEqual([]);
  });

  it('sends one message for all pages when one of the changes affects all', async () => {
    const { link, replaced } = linked();
    link.receive({ kind: 'joined', from: 7 });
    link.replaced(['p/']);
    link.replaced('all');
    link.replaced(['p/latest']);
    void link.workersUpdated();
    expect(replaced().map(({ names }) => names)).toEqual(['all']);
  });

  it('does not wait for a worker that has ended', async () => {
    const { link } = linked();
    link.receive({ kind: 'joined', from: 7 });
    link.replaced(['p/']);
    const updated = link.workersUpdated();
    link.receive({ kind: 'left', from: 7 });
    await updated;
  });

  it('reports a worker that does not answer, and waits until it ends', async () => {
    const { link, sent } = linked(1);
    link.receive({ kind: 'joined', from: 7 });
    link.replaced(['p/']);
    const updated = link.workersUpdated();
    await expect.poll(() => sent.filter((one) => 'unresponsive' in one)).toEqual([{ unresponsive: 7 }]);
    link.receive({ kind: 'left', from: 7 });
    await updated;
  });

  it('accepts metrics that arrive after the confirmation of a later change', async () => {
    const { link, replaced } = linked();
    link.receive({ kind: 'joined', from: 7 });
    const metrics = link.metrics([]);
    link.replaced(['p/']);
    const updated = link.workersUpdated();
    link.receive({ kind: 'done', number: replaced()[0]?.number ?? 0, from: 7 });
    link.receive({ kind: 'metrics', number: 1, metrics: [], from: 7 });
    await Promise.all([updated, metrics, link.workersUpdated()]);
  });

  it('collects the metrics of every worker', async () => {
    const { link } = linked();
    link.receive({ kind: 'joined', from: 7 });
    link.receive({ kind: 'joined', from: 8 });
    const metrics = link.metrics([]);
    link.receive({ kind: 'metrics', number: 1, metrics: [{ name: 'a' }], from: 7 });
    link.receive({ kind: 'metrics', number: 1, metrics: [{ name: 'b' }], from: 8 });
    expect(await metrics).toEqual([[{ name: 'a' }], [{ name: 'b' }]]);
  });

  const counted = (hits: number) => [
    { name: 'hits', help: '', type: 'counter', aggregator: 'sum', values: [{ labels: {}, value: hits }] },
    { name: 'open', help: '', type: 'gauge', aggregator: 'sum', values: [{ labels: {}, value: 3 }] },
  ];

  function sumsOf(metrics: readonly (readonly object[])[]) {
    const all = metrics.flat() as ReturnType<typeof counted>;
    const sum = (wanted: string) =>
      all.filter(({ name }) => name === wanted).reduce((total, { values }) => total + (values[0]?.value ?? 0), 0);
    return { hits: sum('hits'), open: sum('open') };
  }

  it('includes the counters of workers that have ended, but not their gauges', async () => {
    const { link } = linked();
    const sums = async () => sumsOf(await link.metrics([]));
    let number = 0;
    for (const from of [7, 8, 9]) {
      link.receive({ kind: 'joined', from });
      const measured = sums();
      link.receive({ kind: 'metrics', number: ++number, metrics: counted(10), from });
      expect(await measured).toEqual({ hits: 10 * number, open: 3 });
      link.receive({ kind: 'left', from });
      expect(await sums()).toEqual({ hits: 10 * number, open: 0 });
    }
  });

  it('includes the counters of earlier writers and their workers', async () => {
    let before: Counted['counted'] = { ended: [], serving: [] };
    for (const round of [1, 2, 3]) {
      const { link, sent } = linked();
      const [lost = [], ...rest] = before.serving.map(([, counts]) => counts);
      expect(rest).toEqual([]);
      link.receive({ kind: 'counted-before', counts: [before.ended, lost] });
      link.receive({ kind: 'joined', from: round });
      const metrics = link.metrics(counted(100));
      link.receive({ kind: 'metrics', number: 1, metrics: counted(10), from: round });
      // Together with the writer's own hundred.
      expect(sumsOf([counted(100), ...(await metrics)])).toEqual({ hits: 110 * round, open: 6 });
      // As the supervisor receives it.
      const [last] = sent.flatMap((one) => ('counted' in one ? [one.counted] : []));
      before = JSON.parse(JSON.stringify(last)) as Counted['counted'];
    }
  });

  it('uses the last metrics of a worker that does not answer in time', async () => {
    const { link } = linked();
    link.receive({ kind: 'joined', from: 7 });
    const first = link.metrics([]);
    link.receive({ kind: 'metrics', number: 1, metrics: [{ name: 'a' }], from: 7 });
    await first;
    expect(await link.metrics([])).toEqual([[{ name: 'a' }]]);
  });

  it('does not wait for the metrics of a worker that ends', async () => {
    const { link } = linked();
    link.receive({ kind: 'joined', from: 7 });
    // The limit on the wait never passes.
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const metrics = link.metrics([]);
    link.receive({ kind: 'left', from: 7 });
    expect(await metrics).toEqual([]);
  });
});
