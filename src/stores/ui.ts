/** What is open over the page (spec section 4, "Global UI flags"): one store for all islands. */
import { atom, map } from 'nanostores';

/** Options of the auth popup (spec section 2, "Auth popup"). */
export interface AuthPopupOptions {
  /** Replaces "Sign in or create a free account". */
  readonly heading?: string | undefined;
  /** Shows "Have an account? Use this form to sign in." */
  readonly showSigninDialog?: boolean | undefined;
}

/** What the paywall modal was opened with. */
export interface PaywallPayload {
  /** Id of the price. */
  readonly priceId?: string | undefined;
  /**
   * `zephrPlanId` of the price; takes precedence over `priceId` and `frequency`. Without any of the three the reader chooses.
   */
  readonly planId?: string | undefined;
  readonly frequency?: 'month' | 'year' | undefined;
  /** Where to go afterwards, and anything else that the opener passes on. */
  readonly [detail: string]: unknown;
}

export interface Ui {
  /** `null` is closed. */
  readonly authPopup: AuthPopupOptions | null;
  readonly dashMenu: boolean;
  readonly siteMenu: boolean;
  readonly welcomePopup: boolean;
  readonly searchOverlay: boolean;
  readonly searchInput: string;
  /** Which upsell modal is open. */
  readonly upgradeModal: string | null;
  readonly paywall: { readonly open: boolean; readonly payload: PaywallPayload };
}

export const $ui = map<Ui>({
  authPopup: null,
  dashMenu: false,
  siteMenu: false,
  welcomePopup: false,
  searchOverlay: false,
  searchInput: '',
  upgradeModal: null,
  paywall: { open: false, payload: {} },
});

/** Opens the auth popup; if it is open, the new options apply. */
export const openAuthPopup = (options: AuthPopupOptions = {}): void => $ui.setKey('authPopup', options);
export const closeAuthPopup = (): void => $ui.setKey('authPopup', null);

export const setDashMenu = (open: boolean): void => $ui.setKey('dashMenu', open);
export const setSiteMenu = (open: boolean): void => $ui.setKey('siteMenu', open);
export const setWelcomePopup = (open: boolean): void => $ui.setKey('welcomePopup', open);

export const openSearch = (): void => $ui.setKey('searchOverlay', true);
export const setSearchInput = (text: string): void => $ui.setKey('searchInput', text);
/** The query clears on close (spec section 2, "Search overlay"). */
export function closeSearch(): void {
  $ui.set({ ...$ui.get(), searchOverlay: false, searchInput: '' });
}

export const openUpgradeModal = (id: string): void => $ui.setKey('upgradeModal', id);
export const closeUpgradeModal = (): void => $ui.setKey('upgradeModal', null);

/** Whether something is open over the page, or the reader is typing: then no popup opens. */
export function isBusy(): boolean {
  const { authPopup, siteMenu, searchOverlay, upgradeModal, paywall } = $ui.get();
  const open = authPopup !== null || siteMenu || searchOverlay || upgradeModal !== null || paywall.open;
  const writing = document.activeElement?.matches('input, textarea, select') === true;
  // Outside `:is()`, browsers without popovers would throw at the pseudo-class.
  return open || writing || document.querySelector(':is(dialog[open],:popover-open)') !== null;
}

export const openPaywall = (payload: PaywallPayload): void => $ui.setKey('paywall', { open: true, payload });
/** Closing clears price and frequency and keeps the rest of the payload (spec section 4). */
export function closePaywall(): void {
  const { priceId: _price, planId: _plan, frequency: _frequency, ...payload } = $ui.get().paywall.payload;
  $ui.setKey('paywall', { open: false, payload });
}

/** An action that a link in the comments requested. */
export interface CommentAct {
  readonly act: 'reply' | 'report';
  /** WordPress's number of the comment. */
  readonly id: number;
}

/** Set until the island has handled it. */
export const $commentAct = atom<CommentAct | null>(null);
