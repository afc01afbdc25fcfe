import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createDoor, type Door } from './door.ts';
import type { Connection } from './messages.ts';

const doors: Door[] = [];
const clients: Socket[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  for (const door of doors.splice(0)) door.close();
});

/** A worker as the door sees it. @param takes whether it takes what it is given */
function worker(takes = true) {
  const given: number[] = [];
  const child = {
    send(message: Connection) {
      given.push(message.number);
      if (takes) setImmediate(() => doors.at(-1)?.answered(child as unknown as ChildProcess, message.number));
    },
  };
  return { child: child as unknown as ChildProcess, given };
}

async function open(onUnresponsive = (_: ChildProcess): void => {}, timeoutMs = 10_000) {
  const door = createDoor({ onUnresponsive, timeoutMs });
  doors.push(door);
  door.server.listen(0, '127.0.0.1');
  await once(door.server, 'listening');
  const { port } = door.server.address() as AddressInfo;
  const arrive = async (): Promise<void> => {
    const arrived = once(door.server, 'connection');
    clients.push(connect(port, '127.0.0.1'));
    await arrived;
  };
  return { door, arrive };
}

it('gives connections to the workers in turn', async () => {
  const { door, arrive } = await open();
  const [one, two] = [worker(), worker()];
  door.add(one.child);
  door.add(two.child);
  for (let more = 0; more < 4; more++) await arrive();
  expect([one.given.length, two.given.length]).toEqual([2, 2]);
});

it('keeps connections until there is a worker', async () => {
  const { door, arrive } = await open();
  await arrive();
  const late = worker();
  door.add(late.child);
  expect(late.given).toHaveLength(1);
});

it('gives what a worker hadn’t taken when it ended to another', async () => {
  const { door, arrive } = await open();
  const [dying, other] = [worker(false), worker()];
  door.add(dying.child);
  await arrive();
  door.add(other.child);
  door.remove(dying.child);
  expect(other.given).toHaveLength(1);
});

it('gives what a worker doesn’t take in time to another, nothing more to it, and reports it', async () => {
  const reported: ChildProcess[] = [];
  const { door, arrive } = await open((child) => reported.push(child), 2500);
  const [standing, other] = [worker(false), worker()];
  door.add(standing.child);
  await arrive();
  door.add(other.child);
  await expect.poll(() => other.given.length).toBe(1);
  await arrive();
  await arrive();
  expect(standing.given).toHaveLength(1);
  expect(other.given).toHaveLength(3);
  await expect.poll(() => reported[0]).toBe(standing.child);
});

it('goes on with a worker that comes too late for one', async () => {
  const { door, arrive } = await open();
  const [slow, other] = [worker(false), worker()];
  door.add(slow.child);
  await arrive();
  door.add(other.child);
  await expect.poll(() => other.given.length).toBe(1);
  door.left(slow.child, slow.given[0] ?? 0);
  await arrive();
  await arrive();
  expect(slow.given.length + other.given.length).toBe(4);
  expect(slow.given).toHaveLength(2);
});

it('gives a connection again that a worker came too late for, as soon as it says so', async () => {
  const { door, arrive } = await open();
  const slow = worker(false);
  door.add(slow.child);
  await arrive();
  const other = worker();
  door.add(other.child);
  door.left(slow.child, slow.given[0] ?? 0);
  expect(slow.given.length + other.given.length).toBe(2);
});
