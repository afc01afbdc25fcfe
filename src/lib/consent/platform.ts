/**
 * A certified consent platform (IAB Europe TCF 2.3), which Google asks for before it shows personalized advertising in the EEA, the UK
 * and Switzerland (support.google.com/admanager/answer/13554116). The platform asks, remembers and tells its vendors; this reads what
 * the reader answered through `__tcfapi` (CMP API v2, which TCF 2.3 keeps) and nothing else.
 */
import type { OptionalPurpose } from './model.ts';

/** The platform's script, and hosts that it loads from; `null` in settings: our own banner asks. */
export interface ConsentPlatform {
  readonly scriptUrl: string;
  readonly hosts: readonly string[];
}

/** As much of a platform's data as is read. Purposes and vendors are named by their numbers in the TCF's lists. */
interface TcData {
  readonly gdprApplies?: boolean;
  readonly eventStatus?: 'tcloaded' | 'cmpuishown' | 'useractioncomplete';
  readonly purpose?: { readonly consents?: Numbered; readonly legitimateInterests?: Numbered };
  readonly vendor?: {
    readonly consents?: Numbered;
    /** Vendors of which the reader was told; mandatory since TCF 2.3. */
    readonly disclosedVendors?: Numbered;
  };
}
type Numbered = Readonly<Record<string, boolean>>;

type TcfApi = (command: 'addEventListener', version: 2, callback: (data: TcData, success: boolean) => void) => void;

declare global {
  interface Window {
    __tcfapi?: TcfApi;
  }
}

/** Google Advertising Products in the TCF's list of vendors. */
const google = '755';

/**
 * What a platform's data allows. Every purpose needs the storage of data on the device (1).
 *
 * - measurement: measuring content (8)
 * - marketing: a profile for personalized content, and its use (5 and 6)
 * - advertising: what Google asks for personalized advertising: a profile and its use (3 and 4) by consent, selecting and measuring
 *   advertising (2 and 7) by consent or legitimate interest, and Google as a vendor that the platform has named to the reader
 */
export function grantedByTcf({ purpose, vendor }: TcData): OptionalPurpose[] {
  const consents = (...numbers: readonly number[]) => numbers.every((number) => purpose?.consents?.[number] === true);
  const either = (...numbers: readonly number[]) =>
    numbers.every((number) => consents(number) || purpose?.legitimateInterests?.[number] === true);
  if (!consents(1)) return [];
  const granted: OptionalPurpose[] = [];
  if (consents(8)) granted.push('measurement');
  if (consents(5, 6)) granted.push('marketing');
  const named = vendor?.disclosedVendors === undefined || vendor.disclosedVendors[google] === true;
  if (consents(3, 4) && either(2, 7) && named && vendor?.consents?.[google] === true) granted.push('advertising');
  return granted;
}

export interface PlatformListener {
  /** The framework does not apply to this reader: our own banner asks. */
  outside(): void;
  /**
   * What the reader has answered.
   *
   * @param now whether it was on this page, and not on an earlier one
   */
  answered(granted: readonly OptionalPurpose[], now: boolean): void;
}

/** Listens to a platform, or to the stub that queues calls until it comes; it calls back when it knows, and with every change. */
export function listenToPlatform({ outside, answered }: PlatformListener): void {
  let asked = false;
  window.__tcfapi?.('addEventListener', 2, (data, success) => {
    if (!success) return;
    if (data.gdprApplies === false) outside();
    else if (data.eventStatus === 'cmpuishown') asked = true;
    else if (data.eventStatus === 'tcloaded') answered(grantedByTcf(data), false);
    else if (data.eventStatus === 'useractioncomplete') answered(grantedByTcf(data), asked);
  });
}
