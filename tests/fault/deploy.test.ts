/**
 * The files in deploy/ and the Dockerfile: the image's files are assembled and its command is started as another user on a read-only file
 * system; what compose.yaml, kubernetes.yaml, nginx.conf, the Caddyfile and the systemd units say agrees with the image and the settings.
 */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { hashSources } from '../../scripts/build.ts';
import { siteFlags } from '../../scripts/setup/node.mjs';
import { root } from '../../scripts/setup/places.mjs';
import { freePort } from '../../scripts/setup/ports.mjs';
import { ConfigError, parseConfig, settingNames } from '../../src/server/config/config.ts';
import { fakeWordPress, type Json, wirePost, wireSection } from '../fixtures/wordpress.ts';
import { inContext, openImage, type RunningImage, readImage } from './fixtures/image.ts';

/** The longest time that a stop may take, in seconds (docs/operations.md, "Stopping"). */
const stopSeconds = 60;
/** Variables that Node reads; the others are the site's. */
const ofNode = ['NODE_ENV', 'NODE_COMPILE_CACHE'];

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const image = readImage();

/** Names that are neither settings nor Node's. */
const unknown = (names: readonly string[]): string[] =>
  names.filter((name) => !settingNames.includes(name) && !ofNode.includes(name));

/** Seconds of `60s`, `10m` or `70`. */
function seconds(text: unknown): number {
  const [, count, unit] = /^(\d+)([sm]?)$/.exec(String(text)) ?? [];
  return Number(count) * (unit === 'm' ? 60 : 1);
}

describe('the image', () => {
  let running: RunningImage;
  let wordpress: Server;
  beforeAll(async () => {
    running = openImage();
    const { put, handle } = fakeWordPress();
    put('categories', wireSection(2, 'politics', 1) as Json & { id: number });
    put('articles', { ...wirePost({ id: 1, slug: 'story-1', title: { rendered: 'Story 1' } }), id: 1 });
    wordpress = createServer(async (incoming, outgoing) => {
      const answer = await handle(new Request(new URL(incoming.url ?? '/', 'http://wordpress.example')));
      outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
      outgoing.end(Buffer.from(await answer.arrayBuffer()));
    });
    wordpress.listen(0, '127.0.0.1');
    await once(wordpress, 'listening');
  });
  afterAll(() => {
    wordpress?.closeAllConnections();
    wordpress?.close();
    running?.close();
  });

  /** Runs a command of the image to its end. */
  async function run(
    command: readonly string[],
    env: Record<string, string> = {},
  ): Promise<{ code: number; text: string }> {
    const child = running.start(command, env);
    const text = collect(child);
    const [code] = (await once(child, 'close')) as [number];
    return { code, text: text() };
  }

  it('serves pages, passes its health check, runs operators’ commands, and stops in order', async () => {
    console.log(`The image runs ${running.kind}.`);
    const port = String(await freePort());
    const { port: wordpressPort } = wordpress.address() as AddressInfo;
    const env = { PORT: port, SITE_URL: 'https://paper.example', WORDPRESS_URL: `http://127.0.0.1:${wordpressPort}` };
    const site = running.start(running.image.cmd, env, ['ignore', 'pipe', 'pipe', 'ipc']);
    const output = collect(site);
    const ended = once(site, 'exit');
    try {
      const ask = async (path: string) => {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual' });
        return { status: answer.status, text: await answer.text() };
      };
      const status = async (path: string) => (await ask(path).catch(() => null))?.status;
      /** Not more often, because answering a request delays the start. */
      const answers = async (path: string): Promise<void> => {
        for (const end = Date.now() + 120_000; (await status(path)) !== 200; await setTimeout(200)) {
          if (site.exitCode !== null || Date.now() > end) throw new Error(`${path} doesn't answer.\n${output()}`);
        }
      };
      await answers('/healthz');
      expect([200, 503]).toContain(await status('/readyz'));
      await answers('/readyz');
      const page = await ask('/article/story-1');
      expect(page).toEqual({ status: 200, text: expect.stringContaining('Story 1') });
      for (const path of [...page.text.matchAll(/\/_assets\/[\w.-]+\.(?:css|js)/g)].slice(0, 3))
        expect(await status(path[0])).toBe(200);

      expect(await run(running.image.healthcheck, { PORT: port })).toEqual({ code: 0, text: '' });
      // The operators' commands find nothing to install or build.
      const command = await run(['node', 'scripts/run.mjs', 'newsletter']);
      expect(command).toEqual({ code: 1, text: expect.stringContaining('Name the newsletter') });
      const verified = await run(['node', 'scripts/run.mjs', 'verify', '--only', 'wordpress']);
      expect(verified).toEqual({ code: 0, text: expect.stringContaining('0 failed, 4 not asked') });

      expect(readdirSync(join(running.data, 'site'))).toEqual(expect.arrayContaining(['content.sqlite', 'pages']));
      if (running.isolated) {
        expect(readFileSync(`/proc/${site.pid}/status`, 'utf8')).toMatch(
          new RegExp(`^Uid:\\t${running.image.user.uid}\\t`, 'm'),
        );
        expect(lstatSync(join(running.data, 'site', 'content.sqlite')).uid).toBe(running.image.user.uid);
      }
    } finally {
      const began = performance.now();
      site.kill(running.image.stopSignal as NodeJS.Signals);
      expect(await ended, output()).toEqual([0, null]);
      expect(performance.now() - began).toBeLessThan(stopSeconds * 1000);
    }
    // Nothing tried to write outside the volume and /tmp.
    expect(output()).not.toMatch(/EROFS|EACCES|EPERM|"level":"error"/);
  });

  it('refuses writes outside its volume', async ({ skip }) => {
    if (!running.limited) skip(running.kind);
    const files = ['new', 'src/new', 'node_modules/new', `${image.volume}/new`];
    const code = `for (const file of ${JSON.stringify(files)}) try { fs.writeFileSync(file, ''); } catch (error) { console.log(error.code); }`;
    const { text } = await run(['node', '--eval', code]);
    // Without a mount the volume doesn't exist.
    const last = running.isolated ? '' : 'ENOENT\\n';
    expect(text).toMatch(new RegExp(`^(?:(?:EROFS|EACCES)\\n){3}${last}$`));
  });

  it('contains the sources that the build was made of, and no tests, secrets or local data', () => {
    expect(hashSources(running.app)).toBe(read('dist/.sources'));
    const names = readdirSync(running.app, { recursive: true, encoding: 'utf8' }).filter(
      (name) => !name.startsWith('node_modules'),
    );
    expect(
      names.filter((name) => /\.test\.tsx?$|^(?:\.env|\.git|var|deploy|tests|sandbox|\.broadsheet)/.test(name)),
    ).toEqual([]);
    for (const path of [
      '.env',
      '.env.local',
      'deploy/site.env',
      'var/site/accounts-secret',
      '.broadsheet/astro-key',
      'node_modules/x/index.js',
    ])
      expect(inContext(path), path).toBe(false);
  });

  it('contains every package that the server and the built pages import', () => {
    const files = [
      ...globSync('src/{server,content,press,lib}/**/*.ts', { cwd: running.app }),
      ...globSync('dist/server/**/*.mjs', { cwd: running.app }),
    ];
    const missing = new Set<string>();
    for (const file of files) {
      const code = readFileSync(join(running.app, file), 'utf8');
      const imports = code.matchAll(/^(?:import|export)\s(?!type\s)(?:[^'"`;]*?\sfrom\s*)?["']([@a-z][\w./@-]*)["']/gm);
      for (const [, specifier = ''] of imports) {
        const name = specifier
          .split('/')
          .slice(0, specifier.startsWith('@') ? 2 : 1)
          .join('/');
        if (!existsSync(join(running.app, 'node_modules', name))) missing.add(`${file}: ${specifier}`);
      }
    }
    expect(files.length).toBeGreaterThan(200);
    expect([...missing]).toEqual([]);
  });

  it('sets only settings that exist, and uses its port, volume and user consistently', () => {
    expect(unknown(Object.keys(image.env))).toEqual([]);
    expect(image.env).toMatchObject({ NODE_ENV: 'production', HOST: '0.0.0.0', PORT: String(image.port) });
    expect(image.env.DATA_DIR?.startsWith(`${image.volume}/`)).toBe(true);
    expect(image.user.uid).toBeGreaterThan(0);
    // The folder whose owner a new volume gets.
    const { uid, gid } = image.user;
    expect(read('Dockerfile')).toContain(
      `RUN install --directory --owner=${uid} --group=${gid} --mode=0700 ${image.volume}\n`,
    );
    expect(image.healthcheck.join(' ')).toContain('/healthz');
  });

  it('starts the site with the same command as systemd and the same flags as npm run serve', () => {
    const command = ['node', ...siteFlags, 'src/server/main.ts'];
    expect(image.cmd).toEqual(command);
    for (const unit of ['broadsheet.service', 'broadsheet@.service'])
      expect(read(`deploy/systemd/${unit}`)).toContain(`ExecStart=/usr/bin/${command.join(' ')}\n`);
    expect(read('package.json')).toContain(`"serve": "node ${siteFlags.join(' ')} scripts/run.mjs serve"`);
  });
});

/** The output of a process so far. */
function collect(child: ChildProcess): () => string {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (data) => {
      text += data;
    });
  }
  return () => text;
}

interface ComposeService {
  readonly image: string;
  readonly build?: { readonly context: string };
  readonly env_file?: string;
  readonly environment?: Record<string, string>;
  readonly read_only?: boolean;
  readonly tmpfs?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly volumes: readonly string[];
  readonly ports?: readonly string[];
  readonly stop_grace_period: string;
  readonly healthcheck?: { readonly test: readonly string[] };
}

describe('compose.yaml and nginx.conf', () => {
  const { services, volumes } = parse(read('deploy/compose.yaml'), { merge: true }) as {
    services: Record<string, ComposeService>;
    volumes: Record<string, unknown>;
  };
  const sites = Object.entries(services).filter(([, { build }]) => build !== undefined);
  const proxy = read('deploy/nginx.conf');

  it('run two processes on the image, each with its own volume and a read-only file system', () => {
    expect(sites.map(([name]) => name)).toEqual(['site-1', 'site-2']);
    for (const [name, site] of sites) {
      expect(existsSync(join(root, 'deploy', site.build?.context ?? '', 'Dockerfile'))).toBe(true);
      expect(site.volumes).toEqual([`${name}:${image.volume}`]);
      expect(site).toMatchObject({ read_only: true, tmpfs: ['/tmp'], cap_drop: ['ALL'] });
      expect(unknown(Object.keys(site.environment ?? {}))).toEqual([]);
      expect(site.healthcheck?.test[1]).toBe('node');
      expect(site.healthcheck?.test.join(' ')).toContain(`http://127.0.0.1:${image.port}/readyz`);
    }
    const named = Object.values(services).flatMap((one) => one.volumes.map((volume) => volume.split(':', 1)[0] ?? ''));
    expect(named.filter((name) => !name.startsWith('.')).sort()).toEqual(Object.keys(volumes).sort());
  });

  it('give every service a minute to stop, and have an example for each settings file', () => {
    for (const [name, service] of Object.entries(services)) {
      expect(seconds(service.stop_grace_period), name).toBeGreaterThanOrEqual(stopSeconds);
      if (service.env_file) expect(existsSync(join(root, 'deploy', `${service.env_file}.example`))).toBe(true);
    }
    expect(services.database?.env_file).not.toBe(sites[0]?.[1].env_file);
  });

  it('agree with the Caddyfile on the processes, the largest request and the internal addresses', () => {
    const caddy = read('deploy/Caddyfile');
    const upstreams = /^\treverse_proxy (.+) \{$/m.exec(caddy)?.[1]?.split(' ');
    expect(upstreams).toEqual(sites.map(([name]) => `${name}:${image.port}`));
    const internal = /\^\/\(\?:(.*?)\)\$/.exec(proxy)?.[1]?.split('|') ?? [];
    expect(internal.length).toBeGreaterThan(0);
    expect(/^\t@internal path (.+)$/m.exec(caddy)?.[1]?.split(' ')).toEqual(internal.map((name) => `/${name}`));
    expect(proxy).toContain('client_max_body_size 1m;');
    expect(caddy).toContain('max_size 1MB');
    expect(caddy).toContain('health_uri /readyz');
    expect(caddy).not.toMatch(/^\s*encode/m);
  });

  it('agree on the processes, the port, and the failover when one is not ready', () => {
    const servers = [...proxy.matchAll(/^\s*server (\S+):(\d+) (.*);$/gm)];
    expect(servers.map(([, host]) => host)).toEqual(sites.map(([name]) => name));
    for (const [, , port, options] of servers) {
      expect(Number(port)).toBe(image.port);
      expect(options).toContain('max_fails=0');
    }
    expect(proxy).toMatch(/^ {2}proxy_next_upstream error timeout http_503;$/m);
    const listens = [...proxy.matchAll(/^\s*listen (\d+)/gm)].map(([, port]) => port);
    expect(services.proxy?.ports?.map((pair) => pair.split(':')[1])).toEqual(listens);
    expect(sites[0]?.[1].environment?.TRUSTED_PROXIES).toBe('1');
    expect(proxy).toContain('proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;');
  });

  it('allow as many live-story streams as the processes accept', () => {
    const numberOf = (name: string): number => Number(new RegExp(`^\\s*${name} (\\d+);$`, 'm').exec(proxy)?.[1]);
    // For each stream, nginx has one connection to the reader and one to the site; on one core it has a single worker.
    const streams = 2 * sites.length * parseConfig({}).liveConnections;
    expect(numberOf('worker_connections')).toBeGreaterThan(streams);
    expect(numberOf('worker_rlimit_nofile')).toBeGreaterThanOrEqual(numberOf('worker_connections'));
  });
});

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: Record<string, unknown>;
  readonly containers: readonly (Record<'startupProbe' | 'livenessProbe' | 'readinessProbe', Probe> & {
    readonly env: readonly { readonly name: string }[];
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
    readonly lifecycle: { readonly preStop: { readonly exec: { readonly command: readonly string[] } } };
    readonly securityContext: Record<string, unknown>;
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  })[];
  readonly volumes: readonly { readonly name: string }[];
}

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas: number;
    readonly serviceName: string;
    readonly selector: Record<string, unknown>;
    readonly maxUnavailable?: number;
    readonly ports: readonly { readonly targetPort: string }[];
    readonly template: { readonly metadata: { readonly labels: unknown }; readonly spec: Pod };
    readonly volumeClaimTemplates: readonly { readonly metadata: { readonly name: string } }[];
  };
}

describe('kubernetes.yaml', () => {
  const documents = parseAllDocuments(read('deploy/kubernetes.yaml'));
  const resources = documents.map((document) => document.toJS() as Resource);
  const of = (kind: string): Resource[] => resources.filter((one) => one.kind === kind);
  const set = of('StatefulSet')[0] as Resource;
  const pod = set.spec.template.spec;
  const site = pod.containers[0] as Pod['containers'][number];

  it('is valid YAML with matching names and labels', () => {
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
    const labels = set.spec.template.metadata.labels;
    expect(of('Service').map(({ metadata }) => metadata.name)).toContain(set.spec.serviceName);
    for (const { spec } of of('Service')) {
      expect(spec.selector).toEqual(labels);
      for (const { targetPort } of spec.ports) expect(site.ports.map(({ name }) => name)).toContain(targetPort);
    }
    for (const one of [set, ...of('PodDisruptionBudget')]) expect(one.spec.selector).toEqual({ matchLabels: labels });
    expect(of('PodDisruptionBudget').map(({ spec }) => spec.maxUnavailable)).toEqual([1]);
    expect(set.spec.replicas).toBeGreaterThan(1);
    const mounted = [
      ...pod.volumes.map(({ name }) => name),
      ...set.spec.volumeClaimTemplates.map(({ metadata }) => metadata.name),
    ];
    expect(site.volumeMounts.map(({ name }) => name).sort()).toEqual(mounted.sort());
  });

  it('probes health and readiness at the image’s port', () => {
    expect(site.ports).toEqual([{ name: 'http', containerPort: image.port }]);
    const { startupProbe, livenessProbe, readinessProbe } = site;
    expect([startupProbe, livenessProbe].map(({ httpGet }) => httpGet)).toEqual(
      Array(2).fill({ path: '/healthz', port: 'http' }),
    );
    expect(readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
  });

  it('sets only settings that exist, and runs as the image’s user on a read-only file system', () => {
    expect(unknown(site.env.map(({ name }) => name))).toEqual([]);
    const { uid, gid } = image.user;
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: uid, runAsGroup: gid, fsGroup: gid });
    expect(site.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(site.volumeMounts.map(({ mountPath }) => mountPath)).toEqual([image.volume, '/tmp']);
  });

  it('allows a minute for the stop after the preStop wait', () => {
    const [program, wait] = site.lifecycle.preStop.exec.command;
    expect(program).toBe('sleep');
    expect(Number(wait)).toBeGreaterThanOrEqual(5);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(stopSeconds + Number(wait));
  });
});

/** The lines of a unit's section as pairs; a name may occur more than once. */
function section(unit: string, name: string): [string, string][] {
  const [, body = ''] = new RegExp(`^\\[${name}\\]\\n([^]*?)(?=^\\[|$(?![^]))`, 'm').exec(unit) ?? [];
  return [...body.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]);
}

describe('the systemd units', () => {
  const units = ['broadsheet.service', 'broadsheet@.service'].map(
    (name) => [name, read(`deploy/systemd/${name}`)] as const,
  );

  it.each(units)('%s runs the image’s command with restricted rights and a minute to stop', (_name, unit) => {
    const service = section(unit, 'Service');
    const one = (key: string) => service.filter(([name]) => name === key).map(([, value]) => value);
    expect(one('ExecStart')).toEqual([`/usr/bin/${image.cmd.join(' ')}`]);
    const environment = one('Environment')
      .flatMap((line) => line.split(' '))
      .map((pair) => pair.split('=', 2));
    expect(unknown(environment.map(([name = '']) => name))).toEqual([]);
    const { PORT, DATA_DIR, NODE_COMPILE_CACHE } = Object.fromEntries(environment) as Record<string, string>;
    expect(['%i', String(image.port)]).toContain(PORT);
    expect([DATA_DIR, NODE_COMPILE_CACHE]).toEqual([`%S/${one('StateDirectory')}`, `%C/${one('CacheDirectory')}`]);
    expect(Number(one('TimeoutStopSec')[0])).toBeGreaterThanOrEqual(stopSeconds);
    expect(one('MemoryDenyWriteExecute')).toEqual(['no']);
    expect(Object.fromEntries(service)).toMatchObject({
      User: 'broadsheet',
      KillMode: 'mixed',
      KillSignal: image.stopSignal,
      NoNewPrivileges: 'yes',
      ProtectSystem: 'strict',
      EnvironmentFile: '/etc/broadsheet/site.env',
    });
  });

  it('differ only in the port and the folders', () => {
    const [single, template] = units.map(([, unit]) => section(unit, 'Service').map((pair) => pair.join('=')));
    const asSingle = template?.map((line) => line.replaceAll('/%i', '').replace('PORT=%i', `PORT=${image.port}`));
    expect(asSingle).toEqual(single);
  });

  it.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)('are accepted by systemd', () => {
    const files = units.map(([name]) => join(root, 'deploy', 'systemd', name));
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', ...files], { encoding: 'utf8' });
    // Only for these units; whether this machine has a Node at that path doesn't matter.
    const found = stderr
      .split('\n')
      .filter((line) => /broadsheet/.test(line) && !/not executable|Failed to prepare/.test(line));
    expect(found).toEqual([]);
  });
});

describe('the example settings files', () => {
  const names = (text: string): string[] => [...text.matchAll(/^#?([A-Z][A-Z0-9_]+)=/gm)].map(([, name = '']) => name);

  it('name only settings that exist, and none that the deployment sets itself', () => {
    const shared = names(read('deploy/site.env.example'));
    expect(shared.length).toBeGreaterThan(8);
    expect(unknown(shared)).toEqual([]);
    expect(shared.filter((name) => ['HOST', 'PORT', 'DATA_DIR', 'TRUSTED_PROXIES', ...ofNode].includes(name))).toEqual(
      [],
    );
    expect(names(read('deploy/database.env.example'))).toEqual(['POSTGRES_PASSWORD']);
  });

  it('list the keys that every process needs, and contain no usable key', () => {
    const example = read('deploy/site.env.example');
    for (const name of ['DATABASE_URL', 'ACCESS_KEYS', 'ACCOUNTS_SECRET', 'NEWSROOM_SECRET'])
      expect(example).toContain(`\n${name}=`);
    for (const text of [example, read('.env.example')]) {
      const [, ACCESS_KEYS] = /^#?ACCESS_KEYS=(.*)$/m.exec(text) ?? [];
      expect(ACCESS_KEYS).toMatch(/./);
      expect(() => parseConfig({ ACCESS_KEYS })).toThrow(ConfigError);
    }
  });

  it('are ignored by Git once they are filled in', () => {
    expect(read('.gitignore')).toContain('\ndeploy/*.env\n');
  });
});
