/** Configures a newly booted WordPress for the newspaper: users, settings, the plugin. */
import fs from 'node:fs';
import path from 'node:path';
import type { RunningWordPress } from './boot.ts';
import type { Credentials } from './credentials.ts';

export interface PrepareOptions {
  readonly credentials: Credentials;
  /** Address of the newspaper's own site; the plugin sends webhooks and previews there. */
  readonly siteUrl: string;
  /** Slugs of the plugins to activate. */
  readonly plugins: readonly string[];
  /** The newspaper's sections, created once with these ids. */
  readonly sections: readonly { readonly id: number; readonly slug: string; readonly name: string }[];
}

/** The code of a file in `php/`, ready for `RunningWordPress.run`. */
export function phpFile(folder: string, name: string): string {
  return fs.readFileSync(path.join(folder, name), 'utf8').replace(/^<\?php\s/, '');
}

/**
 * Runs at every start and changes only what differs.
 * @returns the credentials, with the application password that WordPress has made
 */
export async function prepareWordPress(wordpress: RunningWordPress, options: PrepareOptions): Promise<Credentials> {
  const { credentials, siteUrl, plugins, sections } = options;
  const php = path.join(import.meta.dirname, 'php');
  // Two runs: a plugin's types and roles exist from the request after its activation.
  const printed = await wordpress.run(phpFile(php, 'prepare.php'), {
    ...credentials,
    url: wordpress.url,
    plugins,
    sections,
    title: 'The Sun',
    tagline: 'It Shines for All',
  });
  const { siteApplicationPassword } = JSON.parse(printed) as { siteApplicationPassword: string };
  await wordpress.run(phpFile(php, 'plugin-settings.php'), { siteUrl, secret: credentials.secret });
  return { ...credentials, siteApplicationPassword };
}
