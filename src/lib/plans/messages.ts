/** Messages of the paywall, the account's subscription panels and their forms. Texts of spec sections 2 and 8 are word for word. */

import { publication } from '../../publication.ts';
import { accountExists, paymentFailed } from '../http/feature-messages.ts';
import { common } from '../http/messages.ts';

export const paywall = {
  ...common,
  exists: accountExists,
  paymentFailed,
  /** Shown with `offline` while a payment is under way. */
  safe: 'What you typed is saved. You can try again: you won’t be charged twice.',
  unfinished: 'Your payment hasn’t gone through yet.',
  pending: 'Your bank is still processing the payment. Your subscription starts when it’s done, and we’ll email you.',
  couponFailed: 'This coupon can’t be used.',
  plansFailed: 'We can’t show the subscriptions right now.',
  noPlans: 'Nothing is for sale right now. Please try again later.',
  walletTax:
    'Sales tax depends on your wallet’s billing address. If there is any, you’ll see the total before you pay.',
  scriptFailed: 'The card form didn’t load.',
  signedOut: 'You’ve been signed out. Please sign in again; everything you typed is still here.',
  offlineNote: 'You’re offline. Everything you typed is saved.',
  changesLater: (day: string, plan: string) => `You keep your current plan until ${day}. Then it changes to ${plan}.`,
  changesNow: (plan: string) =>
    `${plan} starts right away. We credit the time you’ve already paid for and charge the rest to your card on file.`,
  join: publication.plans.join,
  upgrade: 'Upgrade',
  changePlan: 'Change your subscription',
  changeAtRenewal: 'Change at renewal',
  steps: { account: 'Account', shipping: 'Shipping', payment: 'Payment' },
  change: 'Change',
  edit: 'Edit',
  loading: 'Loading the subscriptions…',
  loadingForm: 'Loading the form…',
  retry: 'Try again',
  express: 'Express checkout',
  orCard: 'or pay by card',
  currentPlan: 'This is your current plan.',
  account: 'Your account',
  updateCard: 'Update your card',
  thanks: 'Thank you. One moment…',
  welcome: 'Welcome. The whole story is open.',
  seeMore: 'See what comes with your subscription',
  sumChanged: (sum: string) => `The total is now ${sum}. Please check it, then press the button again if you agree.`,
} as const;

/** The steps before the payment. */
export const paywallSteps = {
  signedInAs: 'Signed in as',
  aReader: 'a reader',
  logout: 'Logout',
  wait: 'One moment…',
  next: 'Continue',
  saving: 'Saving…',
  email: 'Email address',
  emailNote: 'We’ll send your receipt and sign-in links there.',
  hasAccount: 'Already have an account?',
  signIn: 'Sign In',
  signInAsk: 'Sign in?',
  backToOrder: 'Back to the order',
} as const;

/** The order: plan, coupon, address for tax, sums, and the pay button. */
export const order = {
  wait: 'One moment…',
  yourSubscription: 'Your subscription',
  yearly: 'Yearly',
  monthly: 'Monthly',
  withPrint: 'With the weekly print edition by mail',
  saves: (sum: string) => `Save ${sum} a year`,
  couponOptional: 'if you have one',
  apply: 'Apply',
  applying: 'Applying…',
  remove: 'Remove',
  theCoupon: 'the coupon',
  takesOff: (amount: string) => `takes ${amount} off`,
  place: 'Where you live',
  placeNote: 'Sales tax depends on it.',
  placeMissing: 'Tell us where you live',
  zip: 'ZIP code',
  dueToday: 'Due today',
  dueAfterRenewal: 'Total due after renewal',
  renewalDate: 'Renewal date',
  renews: (day: string, sum: string, interval: string) =>
    `Your subscription renews on ${day} for ${sum}, and again every ${interval}, until you cancel.`,
  cancelAnyTime: 'You may cancel your subscription at any time.',
  busy: {
    paying: 'Paying…',
    confirming: 'Waiting for your bank…',
    checking: 'One moment, looking at your payment…',
  },
} as const;

/** A card that replaces another (/account/card). */
export const card = {
  use: 'Use this card',
  or: 'or use a card',
  wait: 'One moment…',
  confirming: 'Waiting for your bank…',
  account: 'Your account',
  saved: 'Thank you. We’ll charge this card from now on, and any unpaid invoice is being paid with it.',
} as const;

/** The reader's subscription in the account. */
export const subscription = {
  /** Spec section 8. */
  failed: 'Failed to fetch subscriptions',
  resumed: 'Done. Your subscription continues.',
  free: publication.plans.free,
  switched: 'Your plan has been changed.',
  stayed: 'Thank you for staying. Your next bill is smaller.',
  cancelled: 'That subscription is canceled. You have another one, which continues.',
  notSold: 'Subscriptions aren’t on sale here yet. Your free account opens everything on this site.',
  planNote: 'You’ll see the credit and the charge before anything changes.',
  cardUnavailable: 'We can’t show your payment method right now. It hasn’t changed.',
  noCard: 'You have no card on file.',
  invoicesUnavailable: 'We can’t load your invoices right now. Everything else on this page is up to date.',
  noInvoices: 'You have no invoices yet. Your first will appear here after your first charge.',
  invoicesFailed: 'We couldn’t load your invoices.',
  statuses: { paid: 'Paid', refunded: 'Refunded', open: 'Not paid yet', uncollectible: 'Not paid' },
  pay: 'Pay',
  wait: 'One moment…',
  olderInvoices: 'Older invoices',
  updateCard: 'Update your card',
  payInvoice: 'Pay your invoice',
  resume: 'Resume subscription',
  keepPlan: 'Keep my current plan',
  upgrade: 'Upgrade',
  cancel: 'Cancel',
  yours: 'Your subscription',
  byMail: 'Your paper comes by mail.',
  checkAddress: 'Check the address',
  unknownPlan: 'You’ll find your plan, renewal date and details in your account.',
} as const;

/** The address of the print edition. */
export const shipping = {
  saved: 'Your shipping address has been saved.',
  signedOut: 'You’re signed out. Sign in in another tab, then save again.',
  unavailable: 'We can’t show your address right now. Please try again in a minute.',
  notIncluded: 'Your subscription doesn’t include the print edition, so there’s nothing to deliver.',
  delivery: 'The weekly print edition, delivered within the United States.',
  name: 'Please enter your name.',
  line1: 'Please enter your street address.',
  city: 'Please enter your city.',
  state: 'Please choose your state.',
  zip: 'Please enter your ZIP code.',
  zipForm: 'A ZIP code has five digits, or nine: 10007 or 10007-1234.',
  /** Spec section 8. */
  phone: 'Invalid phone number',
  carrier: 'For the carrier only.',
  choose: 'Choose…',
  save: 'Save address',
  saving: 'Saving…',
  cancel: 'Cancel',
  update: 'Update Shipping Address',
  zipElsewhere: (zip: string, state: string) => `${zip} is not in ${state}. Please check the ZIP code and the state.`,
} as const;

/** A change of plan without JavaScript. */
export const planSwitch = {
  asksBank:
    'Your bank needs to confirm this payment, and that takes JavaScript. You haven’t been charged. Please turn on JavaScript and change your plan again, or try another card.',
  remedies: {
    shipping: { href: '/shipping?edit', words: 'Tell us where to deliver your paper' },
    unpaid: { href: '/account/card', words: 'Update your card' },
    earlier_card: { href: '/account/card', words: 'Add a card' },
    otherCard: { href: '/account/card', words: 'Try another card' },
  },
} as const;
