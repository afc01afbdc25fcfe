/**
 * Marfeel Compass (vendors.md section 5). Commands wait in a list until the vendor's script has come, so that it may come
 * late or never.
 */
import type { AudienceTool } from './audience.ts';

/** The vendor's object for the tool. */
interface Compass {
  setUserType(code: number): void;
}

declare global {
  interface Window {
    marfeel?: { cmd: { push(command: ['compass', (compass: Compass) => void]): unknown } };
  }
}

/** Hosts of the vendor's script and of what it reports to; pages that load it must allow them. */
export const marfeelHosts = { script: 'https://sdk.mrf.io', report: 'https://events.newsroom.bi' } as const;

/** Fetches the vendor's script once. */
export function loadMarfeel(account: string): void {
  const script = document.createElement('script');
  script.type = 'module';
  script.src = `${marfeelHosts.script}/statics/marfeel-sdk.js?id=${encodeURIComponent(account)}`;
  document.head.append(script);
}

export function marfeel(): AudienceTool {
  return {
    setVisitorType(code) {
      window.marfeel ??= { cmd: [] };
      window.marfeel.cmd.push(['compass', (compass) => compass.setUserType(code)]);
    },
  };
}
