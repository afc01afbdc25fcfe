/** Marfeel, the audience tool, which gets the type of visitor (docs/services/marfeel.md). */
import { loadScriptOnce } from './load-script.ts';
import type { Adapter, AdapterContext, VisitorType } from './model.ts';

/** The vendor's object for the tool. */
interface Compass {
  setUserType(code: number): void;
}

/** The settings that the vendor's loader reads. It sets `config.accountId` itself only when its own snippet is used. */
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

/** The vendor's host object with its command list, created if it is missing. */
function host(): Required<Pick<MarfeelHost, 'cmd'>> & MarfeelHost {
  window.marfeel ??= {};
  const { marfeel } = window;
  marfeel.cmd ??= [];
  return marfeel as Required<Pick<MarfeelHost, 'cmd'>> & MarfeelHost;
}

export function makeAudience({ settings, codes }: AdapterContext<'audience'>): Adapter {
  const { account, scriptUrl } = settings;
  let type: VisitorType | null = null;
  const send = () => {
    if (type === null) return;
    const code = codes[type];
    host().cmd.push(['compass', (compass) => compass.setUserType(code)]);
  };
  return {
    async allow() {
      // Without the account, Marfeel counts nothing. Waiting commands, ours or another script's, stay in the list.
      const { config } = host();
      host().config = Object.assign(config ?? {}, { accountId: Number(account) } satisfies MarfeelConfig);
      await loadScriptOnce(`${scriptUrl}?id=${encodeURIComponent(account)}`, { attributes: { type: 'module' } });
    },
    withdraw() {},
    visitor(next) {
      if (next === type) return;
      type = next;
      send();
    },
    // Marfeel keeps the type for one page view.
    route: send,
  };
}
