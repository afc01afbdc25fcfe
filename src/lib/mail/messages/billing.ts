/** Mail about a subscription: welcome, receipt, renewal, failed payment, cancellation. */
import { publication } from '../../../publication.ts';
import { productOf } from '../../accounts/products.ts';
import { formatMoney, formatReceipt as taxed } from '../../money.ts';
import { findTier } from '../../plans/model.ts';
import type { BillingMessage, Message, Publisher } from '../model.ts';
import { hostOf, type MailContent } from './layout.ts';

type Of<Kind extends Message['kind']> = Extract<Message, { kind: Kind }>;

const because = (paper: Publisher): string =>
  `You’re receiving this email because there’s a subscription with your address at ${hostOf(paper)}.`;
const questions = (paper: Publisher): string => `Questions? Write to ${paper.contact}. A person will answer.`;

function date(paper: Publisher, at: number): string {
  const parts = { timeZone: paper.timeZone, year: 'numeric', month: 'long', day: 'numeric' } as const;
  return new Intl.DateTimeFormat(paper.language, parts).format(at);
}

/** A receipt always shows cents. */
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
      nextPayment(nextBill, currency, paper),
    ],
    button: { label: 'See your subscription', url: `${paper.siteUrl}/dashboard/account` },
    closing: [questions(paper)],
    reason: because(paper),
  };
}

function nextPayment(next: Of<'receipt'>['nextBill'], currency: string, paper: Publisher): string {
  if (next === null) return 'You won’t be charged for it again.';
  if (next === 'paused') return 'Billing for it is paused. You won’t be charged for it until it resumes.';
  return `The next payment of ${taxed(next.amount, next.tax, currency)} is due on ${date(paper, next.at)}. You can cancel your subscription at any time.`;
}

function renewal({ plan, amount, tax, currency, at }: Of<'renewal-notice'>, paper: Publisher): MailContent {
  const [sum, day] = [money(amount, currency), date(paper, at)];
  return {
    subject: `Your subscription to ${paper.name} renews on ${day}`,
    preview: `We’ll charge ${sum} on ${day}.`,
    heading: 'Your subscription is about to renew',
    opening: [
      `On ${day} we’ll charge ${taxed(amount, tax, currency)} for ${plan} to the card we have on file.`,
      'You don’t need to do anything. If you don’t want to renew, cancel before that day and you won’t be charged.',
    ],
    button: { label: 'See your subscription', url: `${paper.siteUrl}/dashboard/account` },
    closing: [questions(paper)],
    reason: because(paper),
  };
}

/** What another subscription includes stays, so that the mail is only about this one. */
const accessOfOne = (isOver: boolean, until: string): string =>
  isOver ? `It gave you access until ${until}.` : `You keep what it includes until ${until}.`;

function failed(
  { plan, amount, tax, currency, nextAttempt, until, over = false, others = false }: Of<'payment-failed'>,
  paper: Publisher,
): MailContent {
  const sum = money(amount, currency);
  const day = date(paper, until);
  const access = others ? accessOfOne(over, day) : `You ${over ? 'had access' : 'can keep reading'} until ${day}.`;
  return {
    subject: `Your payment to ${paper.name} didn’t go through`,
    preview: `We couldn’t charge ${sum}. Please check your card.`,
    heading: 'Your payment didn’t go through',
    opening: [
      `We couldn’t charge ${taxed(amount, tax, currency)} for ${plan}. The card may have expired, or the bank may have declined it.`,
      nextAttempt === null
        ? `${over ? `We won’t try again automatically. To keep ${others ? 'it' : 'reading'}, add another card to pay the bill.` : 'Please add another card.'} ${access}`
        : `We’ll try again on ${date(paper, nextAttempt)}. Please check your card or add another before then. ${access}`,
    ],
    button: { label: 'Update your card', url: `${paper.siteUrl}/account/card` },
    closing: [
      'We never ask for a card number by email. The button opens our site, where you sign in first.',
      questions(paper),
    ],
    reason: because(paper),
  };
}

function cancelled({ plan, until, over = false, others = false }: Of<'cancelled'>, paper: Publisher): MailContent {
  const day = until === null ? null : date(paper, until);
  const access = others
    ? `${day === null ? '' : `${accessOfOne(over, day)} `}Your other subscription stays as it is.`
    : `${day === null ? '' : `You ${over ? 'had' : 'have'} access until ${day}. `}Your account stays open, and you can subscribe again at any time.`;
  return {
    subject: `Your subscription to ${paper.name} is canceled`,
    preview: 'You won’t be charged for it again.',
    heading: 'Your subscription is canceled',
    opening: [`Your subscription (${plan}) is canceled. You won’t be charged for it again.`, access],
    button: others
      ? { label: 'See your subscription', url: `${paper.siteUrl}/dashboard/account` }
      : { label: 'See the plans', url: `${paper.siteUrl}/pricing` },
    closing: [`If you didn’t cancel, or if there’s something we could have done better, write to ${paper.contact}.`],
    reason: because(paper),
  };
}

function welcome({ product, plan, print }: Of<'welcome-tier'>, paper: Publisher): MailContent {
  const tier = findTier(product);
  const name = tier?.name ?? plan;
  const kind = productOf(product);
  const brings = kind ? publication.plans.texts[kind].welcome : 'You can now read every story.';
  return {
    subject: `Welcome to ${paper.name}: you’re a ${name}`,
    preview: brings,
    heading: `Welcome, ${name}`,
    opening: [
      `Thanks for subscribing to ${paper.name}. ${brings}`,
      ...(print
        ? ['We’ll deliver the print edition to the address you gave us. You can change it in your account at any time.']
        : []),
    ],
    button: { label: 'Start reading', url: `${paper.siteUrl}/thankyou` },
    closing: ['You can cancel your subscription in your account at any time.', questions(paper)],
    reason: because(paper),
  };
}
