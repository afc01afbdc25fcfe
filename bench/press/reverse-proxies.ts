/** Reverse proxies that terminate TLS, configured by the examples in `deploy/`, on this machine's ports. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../scripts/setup/ports.mjs';
import { type Contender, contender, isInstalled, launchServer, listening, type Target } from './contenders.ts';

const example = (name: string): string => readFileSync(join(import.meta.dirname, '../../deploy', name), 'utf8');

/** Replaces a part of an example; if the part is missing, the example has changed and the bench no longer measures it. */
function replaced(text: string, part: string | RegExp, by: string): string {
  const result = text.replace(part, by);
  if (result === text)
    throw new Error(`The example in deploy/ has no ${part} any more: change bench/press/reverse-proxies.ts.`);
  return result;
}

interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate for this machine with an elliptic-curve key, as most sites have. */
export function createCertificate(folder: string): Certificate {
  const [certificate, key] = [join(folder, 'tls.pem'), join(folder, 'tls-key.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', certificate], {
    stdio: 'ignore',
  });
  return { certificate, key };
}

export interface ReverseProxy {
  readonly name: string;
  /** How to get it on Debian and Ubuntu. */
  readonly install: string;
  readonly installed: boolean;
  /** Starts it in front of a server. @param behind the server and its process */
  start(folder: string, tls: Certificate, behind: Target): Promise<StartedProxy>;
}

export type StartedProxy = Target & Pick<Contender, 'stop'>;

async function startNginx(folder: string, tls: Certificate, behind: Target): Promise<StartedProxy> {
  const port = await freePort();
  const root = join(folder, `front-nginx-${port}`);
  mkdirSync(root);
  let config = example('nginx.conf');
  // Of nginx 1.27.3: names that are looked up again.
  config = replaced(config, /^ *resolver .*$/m, '');
  config = replaced(config, 'server site-1:4321 resolve max_fails=0;', `server 127.0.0.1:${behind.port} max_fails=0;`);
  config = replaced(config, /^ *server site-2:4321 .*$/m, '');
  config = replaced(config, 'listen 80 default_server;', `listen 127.0.0.1:${port} ssl backlog=2048;`);
  config = replaced(
    config,
    '# ssl_certificate /etc/nginx/tls/fullchain.pem;',
    `ssl_certificate ${tls.certificate}; ssl_certificate_key ${tls.key};`,
  );
  config = replaced(
    config,
    'worker_processes auto;',
    `worker_processes 1; daemon off; user root; pid ${root}/nginx.pid;`,
  );
  config = replaced(
    config,
    'access_log off;',
    `access_log off; keepalive_requests 100000000;
  client_body_temp_path ${root}; proxy_temp_path ${root}; fastcgi_temp_path ${root}; uwsgi_temp_path ${root}; scgi_temp_path ${root};`,
  );
  const file = join(root, 'nginx.conf');
  writeFileSync(file, config);
  const child = launchServer('nginx', ['-c', file, '-p', root, '-e', join(root, 'error.log')]);
  await listening(port);
  return { ...contender(child, port, 'SIGTERM'), behind: behind.pid, secure: true };
}

async function startCaddy(folder: string, tls: Certificate, behind: Target): Promise<StartedProxy> {
  const port = await freePort();
  const root = join(folder, `front-caddy-${port}`);
  mkdirSync(root);
  let config = example('Caddyfile');
  config = replaced(
    config,
    '{$SITE_HOST} {',
    `{
	admin off
	auto_https disable_redirects
	storage file_system ${root}
	log {
		output discard
	}
}
https://127.0.0.1:${port} {
	bind 127.0.0.1
	tls ${tls.certificate} ${tls.key}`,
  );
  config = replaced(config, 'reverse_proxy site-1:4321 site-2:4321 {', `reverse_proxy 127.0.0.1:${behind.port} {`);
  // The peer has no such address.
  config = replaced(config, /^\s*health_uri .*\n\s*health_interval .*$/m, '');
  const file = join(root, 'Caddyfile');
  writeFileSync(file, config);
  const child = launchServer('caddy', ['run', '--config', file, '--adapter', 'caddyfile']);
  await listening(port);
  return { ...contender(child, port, 'SIGTERM'), behind: behind.pid, secure: true };
}

export const reverseProxies: readonly ReverseProxy[] = [
  { name: 'nginx', install: 'apt-get install nginx-light', installed: isInstalled('nginx', '-v'), start: startNginx },
  { name: 'Caddy', install: 'apt-get install caddy', installed: isInstalled('caddy', 'version'), start: startCaddy },
];
