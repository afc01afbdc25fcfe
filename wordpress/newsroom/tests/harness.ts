/** A separate WordPress for each test file, with only this plugin active. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { coreFolder, ensureSandbox } from '../../../sandbox/setup.mjs';
import { snapshot } from '../../../sandbox/testing.ts';
import type { RunningWordPress } from '../../../sandbox/wordpress/boot.ts';
import type { Credentials } from '../../../sandbox/wordpress/credentials.ts';

const root = path.resolve(import.meta.dirname, '../../..');

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests name what they expect of it.
  readonly json: any;
}

export interface CallOptions {
  /** Whose credentials; none by default. */
  readonly as?: 'site' | 'admin' | 'editor' | 'reporter';
  readonly method?: string;
  readonly body?: unknown;
}

export interface Newsroom {
  readonly url: string;
  readonly siteUrl: string;
  readonly secret: string;
  readonly adminUser: string;
  readonly adminPassword: string;
  /** The account of the site. */
  readonly site: { readonly user: string; readonly password: string };
  /** Calls the REST API; `route` begins after `/wp-json`. */
  rest(route: string, options?: CallOptions): Promise<Answer>;
  /** Signs in to wp-admin. @returns the cookies of the session */
  signIn(as: 'admin' | 'editor'): Promise<string>;
  /** Requests any address of WordPress. */
  get(address: string, init?: RequestInit): Promise<Answer>;
  /** Runs PHP inside WordPress and reads what it printed as JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: the tests name what they expect of it.
  php(code: string, input?: unknown): Promise<any>;
  /** Runs what is due in wp-cron. */
  cron(): Promise<void>;
  /** Runs what is due in wp-cron from now on, as the cron of a host does. */
  cronEvery(milliseconds: number): Promise<void>;
  /** Sets what the test plugin simulates. */
  pretend(settings: Record<string, unknown>): Promise<void>;
  stop(): Promise<void>;
}

/** Application passwords of the test accounts other than the site's, and the password with which the editor signs in. */
interface Passwords {
  readonly admin: string;
  readonly editor: string;
  readonly editorSignIn: string;
  readonly reporter: string;
}

const slugs = ['newsroom', 'newsroom-tests'] as const;
const folders = {
  newsroom: path.join(root, 'wordpress/newsroom'),
  'newsroom-tests': path.join(import.meta.dirname, 'support/newsroom-tests'),
};
const passwordsIn = (data: string) => path.join(data, 'passwords.json');

/** Boots the WordPress of a data folder and applies its settings; an empty folder is filled. */
async function boot(
  data: string,
  siteUrl: string,
  constants: Record<string, string>,
): Promise<{ wordpress: RunningWordPress; credentials: Credentials }> {
  // Not imported earlier, because `ensureSandbox` installs what these modules load.
  const { bootWordPress } = await import('../../../sandbox/wordpress/boot.ts');
  const { prepareWordPress } = await import('../../../sandbox/wordpress/prepare.ts');
  const { readCredentials } = await import('../../../sandbox/wordpress/credentials.ts');
  const wordpress = await bootWordPress({
    core: coreFolder(root),
    compiled: path.join(root, '.broadsheet', 'php'),
    data,
    port: 0,
    plugins: slugs.map((slug) => ({ slug, folder: folders[slug] })),
    constants,
    checkFiles: false,
  });
  const credentials = await prepareWordPress(wordpress, {
    credentials: readCredentials(data),
    siteUrl,
    plugins: slugs,
    sections: [],
  });
  return { wordpress, credentials };
}

const runner =
  (wordpress: RunningWordPress): Newsroom['php'] =>
  async (code, input) => {
    const printed = await wordpress.run(
      `wp_set_current_user( 1 ); echo wp_json_encode( ( function ( $input ) { ${code} } )( $input ) );`,
      input,
    );
    try {
      return JSON.parse(printed);
    } catch {
      throw new Error(`PHP printed: ${printed}`);
    }
  };

/** Fills a data folder with an installed WordPress and the accounts of the tests. */
async function install(data: string): Promise<void> {
  const { saveCredentials } = await import('../../../sandbox/wordpress/credentials.ts');
  const { wordpress, credentials } = await boot(data, 'http://127.0.0.1:9', {});
  const passwords: Passwords = await runner(wordpress)(`
    $user = function ( $login, $role, $password ) { return wp_insert_user( array( 'user_login' => $login, 'user_pass' => $password, 'user_email' => "$login@newsroom.invalid", 'role' => $role ) ); };
    $make = function ( $id ) { return WP_Application_Passwords::create_new_application_password( $id, array( 'name' => 'Tests' ) )[0]; };
    $password = wp_generate_password();
    add_option( 'newsroom_tests', array() );
    return array( 'admin' => $make( 1 ), 'editor' => $make( $user( 'section-editor', 'editor', $password ) ), 'editorSignIn' => $password, 'reporter' => $make( $user( 'reporter', 'contributor', wp_generate_password() ) ) );
  `);
  // WordPress's own first tasks are due at once; otherwise each copy would run them again.
  await wordpress.cron.run();
  await wordpress.stop();
  saveCredentials(data, credentials);
  fs.writeFileSync(passwordsIn(data), JSON.stringify(passwords));
}

/**
 * @param siteUrl where webhooks and previews go
 * @param constants of wp-config.php, in addition to those of the sandbox
 */
export async function startNewsroom(siteUrl: string, constants: Record<string, string> = {}): Promise<Newsroom> {
  await ensureSandbox({ root });
  const data = fs.mkdtempSync(path.join(os.tmpdir(), 'newsroom-'));
  fs.cpSync(await snapshot('newsroom', install), data, { recursive: true });
  const passwords = JSON.parse(fs.readFileSync(passwordsIn(data), 'utf8')) as Passwords;
  const { wordpress, credentials } = await boot(data, siteUrl, constants);
  const php = runner(wordpress);
  const keys: Record<string, string> = {
    site: `${credentials.siteUser}:${credentials.siteApplicationPassword}`,
    admin: `${credentials.adminUser}:${passwords.admin}`,
    editor: `section-editor:${passwords.editor}`,
    reporter: `reporter:${passwords.reporter}`,
  };
  const get = async (address: string, init?: RequestInit): Promise<Answer> => {
    const response = await fetch(new URL(address, wordpress.url), init);
    const text = await response.text();
    let json: unknown;
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined;
    }
    return { status: response.status, headers: response.headers, text, json };
  };
  return {
    url: wordpress.url,
    siteUrl,
    secret: credentials.secret,
    adminUser: credentials.adminUser,
    adminPassword: credentials.adminPassword,
    site: { user: credentials.siteUser, password: credentials.siteApplicationPassword ?? '' },
    php,
    get,
    rest(route, { as, method = 'GET', body } = {}) {
      const headers: Record<string, string> = {};
      if (as) headers.authorization = `Basic ${Buffer.from(keys[as] ?? '').toString('base64')}`;
      if (body !== undefined) headers['content-type'] = 'application/json';
      return get(`/wp-json${route}`, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    },
    async signIn(as) {
      const [log, pwd] =
        as === 'admin'
          ? [credentials.adminUser, credentials.adminPassword]
          : ['section-editor', passwords.editorSignIn];
      const { status, headers } = await get('/wp-login.php', {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie: 'wordpress_test_cookie=WP%20Cookie%20check' },
        body: new URLSearchParams({ log, pwd, testcookie: '1' }),
      });
      if (status !== 302) throw new Error(`WordPress answered ${status} to the sign-in of ${log}.`);
      return headers
        .getSetCookie()
        .map((line) => line.split(';')[0])
        .join('; ');
    },
    cron: () => wordpress.cron.run(),
    cronEvery: (milliseconds) => wordpress.cron.runEvery(milliseconds),
    pretend: (settings) => php(`return update_option( 'newsroom_tests', $input );`, settings),
    async stop() {
      await wordpress.stop();
      fs.rmSync(data, { recursive: true, force: true });
    },
  };
}

/** Twelve numbered paragraphs as blocks; the last one contains the word that must not leak. */
export function body(canary = 'unrevealed'): string {
  const paragraphs = Array.from(
    { length: 12 },
    (_, index) => `Paragraph ${index + 1} tells a little more of the story than the one before it.`,
  );
  paragraphs.push(`And here stands ${canary}.`);
  return paragraphs.map((text) => `<!-- wp:paragraph -->\n<p>${text}</p>\n<!-- /wp:paragraph -->`).join('\n\n');
}
