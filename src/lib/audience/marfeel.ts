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

export function marfeel(): AudienceTool {
  return {
    setVisitorType(code) {
      window.marfeel ??= { cmd: [] };
      window.marfeel.cmd.push(['compass', (compass) => compass.setUserType(code)]);
    },
  };
}
