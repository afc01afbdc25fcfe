/**
 * Marfeel Compass. Its loader reads the account from `window.marfeel.config` and runs the commands that wait in `window.marfeel.cmd`,
 * so that it may come late or never (marfeel.com/docs, "Instrumentation": the install snippet sets both before the script).
 */
import type { Adapter, AdapterContext } from './adapter.ts';
import { type AudienceTool, createAudience } from './audience.ts';
import { loadScriptOnce } from './load-script.ts';

/** The vendor's object for the tool. */
interface Compass {
  setUserType(code: number): void;
}

/** What the vendor's loader reads. It sets `config.accountId` itself only when its own snippet is used. */
interface MarfeelConfig {
  accountId: number;
}

interface MarfeelHost {
  config?: MarfeelConfig;
  cmd?: { push(command: ['compass', (compass: Compass) => void]): unknown };
}

declare global {
  interface Window {
    marfeel?: MarfeelHost;
  }
}

/** The vendor's host object with its command list, made when nothing has made them yet. */
function host(): Required<Pick<MarfeelHost, 'cmd'>> & MarfeelHost {
  window.marfeel ??= {};
  const { marfeel } = window;
  marfeel.cmd ??= [];
  return marfeel as Required<Pick<MarfeelHost, 'cmd'>> & MarfeelHost;
}

export function marfeel(): AudienceTool {
  return {
    setVisitorType(code) {
      host().cmd.push(['compass', (compass) => compass.setUserType(code)]);
    },
  };
}

export function makeAudience({ settings, codes }: AdapterContext<'audience'>): Adapter {
  const audience = createAudience(marfeel(), codes);
  const { account, scriptUrl } = settings;
  return {
    async allow() {
      // Without the account nothing is counted. Commands that wait already, ours or another script's, stay in the list.
      const { config } = host();
      host().config = Object.assign(config ?? {}, { accountId: Number(account) } satisfies MarfeelConfig);
      await loadScriptOnce(`${scriptUrl}?id=${encodeURIComponent(account)}`, { attributes: { type: 'module' } });
    },
    withdraw() {},
    visitor: audience.visitor,
    route: audience.route,
  };
}
