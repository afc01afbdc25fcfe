/**
 * A certified consent platform (IAB Europe TCF 2.3), which Google requires for personalized advertising in the EEA, the UK and
 * Switzerland (support.google.com/admanager/answer/13554116). The platform asks the reader, stores the choice and passes it to its
 * vendors; this module only reads the choice through `__tcfapi` (CMP API v2, which TCF 2.3 keeps).
 */
import type { OptionalPurpose } from './model.ts';

/** The platform's script, and hosts that it loads from; `null` in settings: the site's own banner asks. */
export interface ConsentPlatform {
  readonly scriptUrl: string;
  readonly hosts: readonly string[];
}

/** The fields of a platform's data that this module reads. Purposes and vendors have their numbers in the TCF's lists. */
interface TcData {
  readonly gdprApplies?: boolean;
  readonly eventStatus?: 'tcloaded' | 'cmpuishown' | 'useractioncomplete';
  readonly purpose?: { readonly consents?: Numbered; readonly legitimateInterests?: Numbered };
  readonly vendor?: {
    readonly consents?: Numbered;
    /** Vendors that the platform has disclosed to the reader; mandatory since TCF 2.3. */
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
 * The purposes that a platform's data allows. Every purpose needs the storage of data on the device (1).
 *
 * - measurement: measuring content (8)
 * - marketing: a profile for personalized content, and its use (5 and 6)
 * - advertising: Google's conditions for personalized advertising: a profile and its use (3 and 4) by consent, selecting and measuring
 *   advertising (2 and 7) by consent or legitimate interest, and Google as a disclosed vendor
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
  /** The framework does not apply to this reader: the site's own banner asks. */
  outside(): void;
  /** The reader's choice. @param now whether the reader chose on this page and not on an earlier one */
  answered(granted: readonly OptionalPurpose[], now: boolean): void;
}

/** Listens to a platform, or to the stub that queues calls until it has loaded; calls back with the first result and with every change. */
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
