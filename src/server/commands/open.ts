/** What the commands that run next to the serving process have in common. */
import type { Logger } from '../../lib/logging.ts';
import { type Composition, compose } from '../compose.ts';
import { type Config, parseConfig } from '../config/config.ts';
import { createLog } from '../logging.ts';

interface CommandServices {
  readonly app: Composition;
  readonly config: Config;
  readonly log: Logger;
}

/**
 * Opens the services for a command. Data of another version stays as it is, because a process of that version may be using it.
 *
 * @param env settings, see config.ts
 * @throws ConfigError, StartFirst, or Error with a sentence that names the remedy
 */
export async function openForCommand(env: Readonly<Record<string, string | undefined>>): Promise<CommandServices> {
  const config = parseConfig(env);
  const log = createLog(config.logLevel === 'debug' ? 'debug' : 'error');
  return { app: await compose(config, log, { upgrades: false }), config, log };
}
