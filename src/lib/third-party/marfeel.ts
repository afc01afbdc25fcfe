/** Marfeel, the audience tool, which gets the type of visitor (docs/services/marfeel.md). */
import { loadScriptOnce } from './load-script.ts';
import type { Adapter, AdapterContext, VisitorType } from './model.ts';

/** A vendor's tool. */
export interface AudienceTool {
  /** Called on each page view and whenever the type has changed; the last value counts. */
  setVisitorType(code: number): void;
}

export interface Audience {
  /** Sets the type of visitor once it is known; sends it if it differs from the last one sent. */
  visitor(type: VisitorType): void;
  /** Sends the known type again for a new route, because tools keep it for one page view. */
  route(): void;
}

export function createAudience(tool: AudienceTool, codes: Readonly<Record<VisitorType, number>>): Audience {
  let type: VisitorType | null = null;
  const send = () => {
    if (type !== null) tool.setVisitorType(codes[type]);
  };
  return {
    visitor(next) {
      if (next === type) return;
      type = next;
      send();
    },
    route: send,
  };
}

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
      // Without the account, Marfeel counts nothing. Waiting commands, ours or another script's, stay in the list.
      const { config } = host();
      host().config = Object.assign(config ?? {}, { accountId: Number(account) } satisfies MarfeelConfig);
      await loadScriptOnce(`${scriptUrl}?id=${encodeURIComponent(account)}`, { attributes: { type: 'module' } });
    },
    withdraw() {},
    visitor: audience.visitor,
    route: audience.route,
  };
}
