/** Marfeel, the audience tool: told what type of visitor is reading (vendors.md 5). */
import { loadScriptOnce } from './load-script.ts';
import type { Adapter, AdapterContext, VisitorType } from './model.ts';

/** One vendor's tool. */
export interface AudienceTool {
  /** Told on each page view and whenever the type has changed; the last word counts. */
  setVisitorType(code: number): void;
}

export interface Audience {
  /** Who is reading, as soon as that is known; sends when the type is another one than was sent last. */
  visitor(type: VisitorType): void;
  /** A new route: what is known is sent again, for tools keep it for one page view. */
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
