/**
 * Marfeel Compass (vendors.md section 5). Commands wait in a list until the vendor's script has come, so that it may come
 * late or never.
 */
import type { Adapter, AdapterContext } from '../third-party/adapter.ts';
import { loadScriptOnce } from '../third-party/load-script.ts';
import { type AudienceTool, createAudience } from './audience.ts';

/** The vendor's object for the tool. */
interface Compass {
  setUserType(code: number): void;
}

declare global {
  interface Window {
    marfeel?: { cmd: { push(command: ['compass', (compass: Compass) => void]): unknown } };
  }
}

export function marfeel(): AudienceTool {
  return {
    setVisitorType(code) {
      window.marfeel ??= { cmd: [] };
      window.marfeel.cmd.push(['compass', (compass) => compass.setUserType(code)]);
    },
  };
}

export function makeAudience({ settings, codes }: AdapterContext<'audience'>): Adapter {
  const audience = createAudience(marfeel(), codes);
  const { account, scriptUrl } = settings;
  return {
    async allow() {
      await loadScriptOnce(`${scriptUrl}?id=${encodeURIComponent(account)}`, { attributes: { type: 'module' } });
    },
    withdraw() {},
    visitor: audience.visitor,
    route: audience.route,
  };
}
