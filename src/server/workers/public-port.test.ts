import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import type { Connection } from './messages.ts';
import { createPublicPort, type PublicPort } from './public-port.ts';

const opened: PublicPort[] = [];
const clients: Socket[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  for (const publicPort of opened.splice(0)) publicPort.close();
});

/** A worker as the port sees it. @param takes whether it accepts connections */
function worker(takes = true) {
  const given: number[] = [];
  const child = {
    send(message: Connection) {
      given.push(message.number);
      if (takes) setImmediate(() => opened.at(-1)?.taken(child as unknown as ChildProcess, message.number));
    },
  };
  return { child: child as unknown as ChildProcess, given };
}

async function open(onUnresponsive = (_: ChildProcess): void => {}, timeoutMs = 10_000) {
  const publicPort = createPublicPort({ onUnresponsive, timeoutMs });
  opened.push(publicPort);
  publicPort.server.listen(0, '127.0.0.1');
  await once(publicPort.server, 'listening');
  const { port } = publicPort.server.address() as AddressInfo;
  const arrive = async (): Promise<void> => {
    const arrived = once(publicPort.server, 'connection');
    clients.push(connect(port, '127.0.0.1'));
    await arrived;
  };
  return { publicPort, arrive };
}

it('the public port gives connections to the workers in turn', async () => {
  const { publicPort, arrive } = await open();
  const [one, two] = [worker(), worker()];
  publicPort.add(one.child);
  publicPort.add(two.child);
  for (let more = 0; more < 4; more++) await arrive();
  expect([one.given.length, two.given.length]).toEqual([2, 2]);
});

it('a connection waits until there is a worker to take it', async () => {
  const { publicPort, arrive } = await open();
  await arrive();
  const late = worker();
  publicPort.add(late.child);
  expect(late.given).toHaveLength(1);
});

it('a connection that a worker had not taken when it ended goes to another worker', async () => {
  const { publicPort, arrive } = await open();
  const [dying, other] = [worker(false), worker()];
  publicPort.add(dying.child);
  await arrive();
  publicPort.add(other.child);
  publicPort.remove(dying.child);
  expect(other.given).toHaveLength(1);
});

it('a worker that does not take a connection in time loses it to another, gets no more, and is reported', async () => {
  const reported: ChildProcess[] = [];
  const { publicPort, arrive } = await open((child) => reported.push(child), 2500);
  const [standing, other] = [worker(false), worker()];
  publicPort.add(standing.child);
  await arrive();
  publicPort.add(other.child);
  await expect.poll(() => other.given.length).toBe(1);
  await arrive();
  await arrive();
  expect(standing.given).toHaveLength(1);
  expect(other.given).toHaveLength(3);
  await expect.poll(() => reported[0]).toBe(standing.child);
});

it('a worker that was too late for one connection gets later ones', async () => {
  const { publicPort, arrive } = await open();
  const [slow, other] = [worker(false), worker()];
  publicPort.add(slow.child);
  await arrive();
  publicPort.add(other.child);
  await expect.poll(() => other.given.length).toBe(1);
  publicPort.declined(slow.child, slow.given[0] ?? 0);
  await arrive();
  await arrive();
  expect(slow.given.length + other.given.length).toBe(4);
  expect(slow.given).toHaveLength(2);
});

it('a connection goes to another worker as soon as its worker says that it was too late', async () => {
  const { publicPort, arrive } = await open();
  const slow = worker(false);
  publicPort.add(slow.child);
  await arrive();
  const other = worker();
  publicPort.add(other.child);
  publicPort.declined(slow.child, slow.given[0] ?? 0);
  expect(slow.given.length + other.given.length).toBe(2);
});
