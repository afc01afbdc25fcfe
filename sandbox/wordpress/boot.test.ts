import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { coreFolder, ensureSandbox } from '../setup.mjs';
import { bootWordPress, type RunningWordPress } from './boot.ts';
import { isTaskDue } from './cron.ts';

const root = path.resolve(import.meta.dirname, '../..');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'boot-'));
const data = path.join(folder, 'data');
const plugin = path.join(folder, 'probe');
const note = path.join(data, 'database', 'next-task');
let wordpress: RunningWordPress;

/** @param changed the file's modification time, in Unix seconds */
function writePlugin(answer: string, changed: number): void {
  const file = path.join(plugin, 'probe.php');
  fs.writeFileSync(
    file,
    `<?php
    /* Plugin Name: Probe */
    function probe_answer() { return '${answer}'; }
    add_action( 'init', function () {
      if ( wp_doing_cron() ) { update_option( 'probe_runs', 1 + (int) get_option( 'probe_runs' ) ); }
    } );
    add_action( 'probe', function () { update_option( 'probe_done', 'yes' ); } );
    add_action( 'shutdown', function () {
      if ( empty( $_GET['late'] ) ) { return; }
      wp_ob_end_flush_all();
      flush();
      wp_remote_get( $_GET['late'] );
      file_put_contents( __DIR__ . '/late', update_option( 'probe_late', 'yes' ) ? 'written' : 'lost' );
    }, 0 );`,
  );
  fs.utimesSync(file, changed, changed);
}
const option = (name: string) => wordpress.run('echo get_option( $input );', name);
const write = async () => (await wordpress.request({ method: 'POST', url: '/wp-json/' })).finished;

const boot = (checkFiles = true) =>
  bootWordPress({
    core: coreFolder(root),
    compiled: path.join(folder, 'compiled'),
    data,
    port: 0,
    plugins: [{ slug: 'probe', folder: plugin }],
    checkFiles,
  });

beforeAll(async () => {
  await ensureSandbox({ root });
  fs.mkdirSync(plugin, { recursive: true });
  writePlugin('first', 1_000_000_000);
  wordpress = await boot();
  await wordpress.run(`update_option( 'active_plugins', array( 'probe/probe.php' ) );`);
}, 180_000);
afterAll(async () => {
  await wordpress?.stop();
  fs.rmSync(folder, { recursive: true, force: true });
});

it('the sandbox’s WordPress runs an edited file at the next request, despite its opcode cache', async () => {
  const answer = () => wordpress.run('echo probe_answer();');
  expect([await answer(), await answer()]).toEqual(['first', 'first']);
  writePlugin('second', 1_000_000_001);
  expect(await answer()).toBe('second');
  const held = await wordpress.run('echo opcache_get_status( false )["opcache_statistics"]["hits"];');
  expect(Number(held)).toBeGreaterThan(100);
}, 180_000);

it('the sandbox’s WordPress refuses by itself to fetch from another machine, without a connection', async () => {
  const code = `$answer = wp_remote_get( 'https://example.com/' ); echo is_wp_error( $answer ) ? $answer->get_error_code() : 'fetched';`;
  expect(await wordpress.run(code)).toBe('sandbox_offline');
}, 180_000);

it('a write to the sandbox’s WordPress runs its task list only when a task is due', async () => {
  await wordpress.cron.run();
  expect(isTaskDue(note)).toBe(false);
  const before = Number(await option('probe_runs'));
  await write();
  // A run started by the write would have begun by now, and the next one would come after it.
  await setImmediate();
  await setImmediate();
  await wordpress.cron.run();
  expect(Number(await option('probe_runs'))).toBe(before + 1);

  await wordpress.run(`wp_schedule_single_event( time() - 1, 'probe' );`);
  expect(isTaskDue(note)).toBe(true);
  await write();
  await vi.waitFor(async () => expect(await option('probe_done')).toBe('yes'), { interval: 100 });
}, 180_000);

it('stopping the sandbox’s WordPress waits for PHP that runs on after its response', async () => {
  const asked = Promise.withResolvers<http.ServerResponse>();
  const site = http.createServer((_, response) => asked.resolve(response));
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const { port } = site.address() as AddressInfo;
  const late = encodeURIComponent(`http://127.0.0.1:${port}/`);
  expect((await wordpress.request({ method: 'POST', url: `/wp-json/?late=${late}` })).httpStatusCode).toBeDefined();
  const response = await asked.promise;
  const stopped = wordpress.stop();
  response.end();
  await stopped;
  site.close();
  expect(fs.readFileSync(path.join(plugin, 'late'), 'utf8')).toBe('written');
}, 180_000);

it('the sandbox’s WordPress without checks of its files runs them as they were at its start', async () => {
  writePlugin('third', 1_000_000_002);
  wordpress = await boot(false);
  const answer = () => wordpress.run('echo probe_answer();');
  expect(await answer()).toBe('third');
  writePlugin('fourth', 1_000_000_003);
  expect(await answer()).toBe('third');
}, 180_000);
