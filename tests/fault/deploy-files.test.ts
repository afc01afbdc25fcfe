/** What compose.yaml, kubernetes.yaml, nginx.conf, the Caddyfile and the systemd units say agrees with the image and the settings. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { root } from '../../scripts/setup/places.mjs';
import { ConfigError, parseConfig } from '../../src/server/config/config.ts';
import { image, ofNode, read, stopSeconds, unknown } from './fixtures/deploy-files.ts';

/** Seconds of `60s`, `10m` or `70`. */
function seconds(text: unknown): number {
  const [, count, unit] = /^(\d+)([sm]?)$/.exec(String(text)) ?? [];
  return Number(count) * (unit === 'm' ? 60 : 1);
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

/** The lines of a unit's section as pairs; a name may occur more than once. */
function section(unit: string, name: string): [string, string][] {
  const [, body = ''] = new RegExp(`^\\[${name}\\]\\n([^]*?)(?=^\\[|$(?![^]))`, 'm').exec(unit) ?? [];
  return [...body.matchAll(/^(\w+)=(.*)$/gm)].map(([, key = '', value = '']) => [key, value]);
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
    expect(caddy).toMatch(/^\s*health_uri \/readyz\?serves$/m);
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
    expect(readinessProbe.httpGet).toEqual({ path: '/readyz?serves', port: 'http' });
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
