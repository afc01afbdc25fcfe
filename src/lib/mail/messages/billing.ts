/** Mail about a subscription: welcome, receipt, renewal, failed payment, end. */
import { formatMoney, formatReceipt as taxed } from '../../money.ts';
import type { Message, Publisher } from '../model.ts';
import type { MailContent } from './layout.ts';

type Of<Kind extends Message['kind']> = Extract<Message, { kind: Kind }>;
export type BillingMessage = Of<'receipt' | 'renewal-notice' | 'payment-failed' | 'cancelled' | 'welcome-tier'>;

const host = (paper: Publisher): string => new URL(paper.siteUrl).host;
const because = (paper: Publisher): string =>
  `You get this message because there is a subscription with your e-mail address at ${host(paper)}.`;
const questions = (paper: Publisher): string => `Questions? Write to ${paper.contact}, and a person answers.`;

function date(paper: Publisher, at: number): string {
  const parts = { timeZone: paper.timeZone, year: 'numeric', month: 'long', day: 'numeric' } as const;
  return new Intl.DateTimeFormat(paper.language, parts).format(at);
}

/** A receipt names cents always. */
const money = (amount: number, currency: string): string => formatMoney(amount, { currency, cents: true });

export function billingMail(message: BillingMessage, paper: Publisher): MailContent {
  switch (message.kind) {
    case 'receipt':
      return receipt(message, paper);
    case 'renewal-notice':
      return renewal(message, paper);
    case 'payment-failed':
      return failed(message, paper);
    case 'cancelled':
      return cancelled(message, paper);
    case 'welcome-tier':
      return welcome(message, paper);
  }
}

function receipt({ plan, amount, tax, currency, paidAt, nextBill }: Of<'receipt'>, paper: Publisher): MailContent {
  const sum = money(amount, currency);
  return {
    subject: `Your receipt from ${paper.name}: ${sum}`,
    preview: `We received ${sum} for ${plan}. Thank you.`,
    heading: 'Thank you for your payment',
    opening: [
      `We received ${taxed(amount, tax, currency)} on ${date(paper, paidAt)} for ${plan}.`,
      nextBill
        ? `The next payment of ${taxed(nextBill.amount, nextBill.tax, currency)} is due on ${date(paper, nextBill.at)}. You may cancel your subscription at any time.`
        : 'Nothing more will be charged.',
    ],
    button: { label: 'See your subscription', url: `${paper.siteUrl}/dashboard/account` },
    closing: [questions(paper)],
    reason: because(paper),
  };
}

function renewal({ plan, amount, tax, currency, at }: Of<'renewal-notice'>, paper: Publisher): MailContent {
  const [sum, day] = [money(amount, currency), date(paper, at)];
  return {
    subject: `Your subscription to ${paper.name} renews on ${day}`,
    preview: `${sum} will be charged on ${day}.`,
    heading: 'Your subscription will be renewed',
    opening: [
      `On ${day} we will charge ${taxed(amount, tax, currency)} for ${plan}, to the card that we have for you.`,
      'You need not do anything. If you would rather not go on, cancel before that day, and nothing is charged.',
    ],
    button: { label: 'See your subscription', url: `${paper.siteUrl}/dashboard/account` },
    closing: [questions(paper)],
    reason: because(paper),
  };
}

function failed(
  { plan, amount, tax, currency, nextAttempt, until }: Of<'payment-failed'>,
  paper: Publisher,
): MailContent {
  const sum = money(amount, currency);
  return {
    subject: `Your payment to ${paper.name} did not go through`,
    preview: `${sum} could not be charged. Please check your card.`,
    heading: 'Your payment did not go through',
    opening: [
      `We could not charge ${taxed(amount, tax, currency)} for ${plan}. Perhaps the card has expired, or the bank has refused it.`,
      nextAttempt === null
        ? `Please give us another card. The paper stays open to you until ${date(paper, until)}.`
        : `We try again on ${date(paper, nextAttempt)}. To be sure, please check your card or give us another. Until ${date(paper, until)} the paper stays open to you.`,
    ],
    button: { label: 'Update your card', url: `${paper.siteUrl}/account/card` },
    closing: [
      'We never ask for the number of a card by e-mail. The button leads to our own site, where you sign in first.',
      questions(paper),
    ],
    reason: because(paper),
  };
}

function cancelled({ plan, until, over = false }: Of<'cancelled'>, paper: Publisher): MailContent {
  return {
    subject: `Your subscription to ${paper.name} is cancelled`,
    preview: 'Nothing more will be charged.',
    heading: 'Your subscription is cancelled',
    opening: [
      `Your subscription, ${plan}, is cancelled. Nothing more will be charged.`,
      `What you have paid for ${over ? 'was' : 'stays'} open to you until ${date(paper, until)}. Your account stays yours, and you can come back at any time.`,
    ],
    button: { label: 'See the plans', url: `${paper.siteUrl}/pricing` },
    closing: [`If this was not you, or if we could have done something better, write to ${paper.contact}.`],
    reason: because(paper),
  };
}

/** What each tier brings; of an unknown one that it is open. */
const tiers: Readonly<Record<string, { readonly name: string; readonly brings: string }>> = {
  'sun-reader': { name: 'Sun Reader', brings: 'Every story is now open to you, on all of your devices.' },
  'sun-member': {
    name: 'Sun Member',
    brings: 'Every story is now open to you, and so are our events and the conversation with our editors.',
  },
  'sun-founder': {
    name: 'Sun Founder',
    brings: 'Every story is now open to you. Founders make this paper possible, and we do not forget it.',
  },
};

function welcome({ product, plan, print }: Of<'welcome-tier'>, paper: Publisher): MailContent {
  const { name, brings } = tiers[product] ?? { name: plan, brings: 'Every story is now open to you.' };
  return {
    subject: `Welcome to ${paper.name}: you are a ${name}`,
    preview: brings,
    heading: `Welcome, ${name}`,
    opening: [
      `Thank you for subscribing to ${paper.name}. ${brings}`,
      ...(print
        ? ['The printed paper comes to the address that you gave us. You can change it in your account at any time.']
        : []),
    ],
    button: { label: 'Begin reading', url: `${paper.siteUrl}/thankyou` },
    closing: ['You may cancel your subscription at any time, in your account.', questions(paper)],
    reason: because(paper),
  };
}
