// @vitest-environment jsdom
import { atom } from 'nanostores';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { button, click, type Drawn, draw, field, named, paste, press, submit, type } from '../shared/testing.tsx';
import type { Flow, SignInState } from './flow.ts';
import {
  CodeView,
  type CodeViewProps,
  EmailView,
  type EmailViewProps,
  SentView,
  type SentViewProps,
  SignInPanel,
} from './SignInPanel.tsx';

let drawn: Drawn;
afterEach(() => drawn.remove());

const form = () => drawn.host.querySelector('form') as HTMLFormElement;
const alerts = () => [...drawn.host.querySelectorAll('[role="alert"]')].map((alert) => alert.textContent);

describe('the address form', () => {
  const props: EmailViewProps = {
    email: '',
    error: null,
    trouble: null,
    busy: false,
    providers: ['google', 'facebook'],
    waiting: null,
    returnTo: '/article/a',
    scripted: true,
    focused: false,
    onSubmit: vi.fn(),
    onProvider: vi.fn(),
  };
  const email = () => field('Please enter your email address below:');

  it('submits the typed address', async () => {
    const onSubmit = vi.fn();
    drawn = await draw(<EmailView {...props} onSubmit={onSubmit} />);
    await type(email(), 'ada@example.com');
    await submit(form());
    expect(onSubmit).toHaveBeenCalledExactlyOnceWith('ada@example.com');
  });

  it('is a plain form before the script has loaded', async () => {
    drawn = await draw(<EmailView {...props} scripted={false} />);
    expect(form().getAttribute('method')).toBe('post');
    expect(form().getAttribute('action')).toBe('/account/sign-in');
    expect(form().noValidate).toBe(false);
    expect(Object.fromEntries(new FormData(form()))).toEqual({ email: '', return: '/article/a' });
    expect([...drawn.host.querySelectorAll('a')].map((link) => link.getAttribute('href'))).toEqual([
      '/blaize/oauth/google?return=%2Farticle%2Fa',
      '/blaize/oauth/facebook?return=%2Farticle%2Fa',
    ]);
  });

  it('shows its error at the field, with a suggestion that can be clicked', async () => {
    const onSubmit = vi.fn();
    drawn = await draw(<EmailView {...props} email="ada@gmial.com" />);
    await drawn.draw(<EmailView {...props} error="Did you mean ada@gmail.com?" onSubmit={onSubmit} />);
    expect(email().getAttribute('aria-invalid')).toBe('true');
    expect(document.getElementById(email().getAttribute('aria-describedby') as string)?.textContent).toBe(
      'Did you mean ada@gmail.com?',
    );
    expect(document.activeElement).toBe(email());
    expect(email().value).toBe('ada@gmial.com');
    await click(button('ada@gmail.com'));
    expect(email().value).toBe('ada@gmail.com');
    expect(onSubmit).toHaveBeenCalledExactlyOnceWith('ada@gmail.com');
  });

  it('shows the providers after an “or”, and no “or” when there are none', async () => {
    const onProvider = vi.fn();
    drawn = await draw(<EmailView {...props} onProvider={onProvider} />);
    await click(named('a', 'Continue with Facebook'));
    expect(onProvider).toHaveBeenCalledExactlyOnceWith('facebook');
    expect(drawn.host.textContent).toContain('or');
    await drawn.draw(<EmailView {...props} providers={[]} />);
    expect(drawn.host.querySelectorAll('a')).toHaveLength(0);
    expect(form().parentElement?.textContent).not.toContain('or');
  });

  it('names the provider whose window it is waiting for', async () => {
    drawn = await draw(<EmailView {...props} waiting="google" />);
    expect(drawn.host.textContent).toContain('Waiting for Google…');
  });

  it('cannot be edited while it is being sent', async () => {
    drawn = await draw(<EmailView {...props} busy />);
    expect(email().readOnly).toBe(true);
    expect(form().getAttribute('aria-busy')).toBe('true');
    expect(button('One moment…').getAttribute('aria-disabled')).toBe('true');
  });
});

describe('the view after a link was sent', () => {
  const props: SentViewProps = {
    email: 'ada@example.com',
    error: null,
    busy: false,
    resent: false,
    onEdit: vi.fn(),
    onResend: vi.fn(),
    onUseCode: vi.fn(),
  };

  it('offers no code when codes are off', async () => {
    drawn = await draw(<SentView {...props} onUseCode={null} />);
    expect(drawn.host.textContent).toContain('Resend');
    expect(drawn.host.textContent).not.toContain('code');
  });

  it('shows the address read-only, with three buttons: edit, resend, use a code', async () => {
    const [onEdit, onResend, onUseCode] = [vi.fn(), vi.fn(), vi.fn()];
    drawn = await draw(<SentView {...props} onEdit={onEdit} onResend={onResend} onUseCode={onUseCode} />);
    expect(drawn.host.textContent).toContain('login link has been sent to');
    expect(field('Email address').value).toBe('ada@example.com');
    expect(field('Email address').readOnly).toBe(true);
    await click(button('Edit'));
    await click(button('Resend'));
    await click(button('Login with code instead'));
    for (const called of [onEdit, onResend, onUseCode]) expect(called).toHaveBeenCalledOnce();
  });

  it('says “Resent!”, and does not resend again while it says so', async () => {
    const onResend = vi.fn();
    drawn = await draw(<SentView {...props} resent onResend={onResend} />);
    expect(drawn.host.querySelector('[role="status"]')?.textContent).toBe('Resent!');
    await click(button('Resend'));
    expect(onResend).not.toHaveBeenCalled();
  });
});

describe('the code form', () => {
  const props: CodeViewProps = {
    email: 'ada@example.com',
    error: null,
    trouble: null,
    busy: false,
    resent: false,
    onConfirm: vi.fn(),
    onResend: vi.fn(),
    onEdit: vi.fn(),
  };
  const boxes = () => [...drawn.host.querySelectorAll('input')];
  const written = () =>
    boxes()
      .map((box) => box.value || '·')
      .join('');

  it('has six boxes in one labeled group', async () => {
    drawn = await draw(<CodeView {...props} />);
    expect(named('h2', 'Please check your email.')).toBeTruthy();
    const groups = drawn.host.querySelectorAll('[role="group"]');
    expect(groups).toHaveLength(1);
    expect(groups[0]?.getAttribute('aria-label')).toMatch(/code/);
    expect(boxes()).toHaveLength(6);
    expect(boxes().map((box) => box.inputMode)).toEqual(Array(6).fill('numeric'));
    expect(boxes().map((box) => box.autocomplete)).toEqual(['one-time-code', 'off', 'off', 'off', 'off', 'off']);
    expect(document.activeElement).toBe(boxes()[0]);
  });

  it('moves to the next box, and confirms on the last digit', async () => {
    const onConfirm = vi.fn();
    drawn = await draw(<CodeView {...props} onConfirm={onConfirm} />);
    for (const digit of '12345') await type(document.activeElement as HTMLInputElement, digit);
    expect(onConfirm).not.toHaveBeenCalled();
    await type(document.activeElement as HTMLInputElement, '6');
    expect(onConfirm).toHaveBeenCalledExactlyOnceWith('123456');
  });

  it('accepts a code pasted into any box or elsewhere in the form', async () => {
    const onConfirm = vi.fn();
    drawn = await draw(<CodeView {...props} onConfirm={onConfirm} />);
    await paste(boxes()[3] as HTMLInputElement, 'Your code: 123-456');
    expect(written()).toBe('123456');
    expect(onConfirm).toHaveBeenCalledExactlyOnceWith('123456');
    await paste(button('Confirm'), '654321');
    expect(written()).toBe('654321');
  });

  it('leaves what is pasted into another field of the page there', async () => {
    drawn = await draw(<CodeView {...props} />);
    for (const tag of ['input', 'textarea']) {
      const other = document.createElement(tag);
      document.body.append(other);
      await paste(other, '654321');
      other.remove();
      expect(written()).toBe('······');
    }
  });

  it('accepts a whole code that a phone fills into the first box', async () => {
    drawn = await draw(<CodeView {...props} />);
    await type(boxes()[0] as HTMLInputElement, '123456');
    expect(written()).toBe('123456');
  });

  it('replaces a digit that is already there', async () => {
    drawn = await draw(<CodeView {...props} />);
    await type(boxes()[0] as HTMLInputElement, '1');
    await type(boxes()[0] as HTMLInputElement, '19');
    expect(written()).toBe('9·····');
    await type(boxes()[0] as HTMLInputElement, '99');
    expect(written()).toBe('9·····');
  });

  it('empties a box whose digit is cut, or deleted by an on-screen keyboard that reports no key', async () => {
    drawn = await draw(<CodeView {...props} />);
    await type(boxes()[0] as HTMLInputElement, '12');
    await type(boxes()[0] as HTMLInputElement, '');
    expect(written()).toBe('·2····');
    expect(document.activeElement).toBe(boxes()[0]);
  });

  it('moves on when a digit is typed over the same digit', async () => {
    drawn = await draw(<CodeView {...props} />);
    await type(boxes()[0] as HTMLInputElement, '1');
    await type(boxes()[0] as HTMLInputElement, '1');
    expect(written()).toBe('1·····');
    expect(document.activeElement).toBe(boxes()[1]);
  });

  it('can be navigated and emptied with the keyboard', async () => {
    drawn = await draw(<CodeView {...props} />);
    await paste(boxes()[0] as HTMLInputElement, '12');
    expect(document.activeElement).toBe(boxes()[2]);
    await press(boxes()[2] as HTMLInputElement, 'Backspace');
    expect(written()).toBe('1·····');
    await press(boxes()[1] as HTMLInputElement, 'ArrowLeft');
    expect(document.activeElement).toBe(boxes()[0]);
    await press(boxes()[0] as HTMLInputElement, 'End');
    expect(document.activeElement).toBe(boxes()[5]);
    await press(boxes()[0] as HTMLInputElement, 'Delete');
    expect(written()).toBe('······');
  });

  it('announces and keeps a wrong code, and does not submit the next one by itself', async () => {
    const onConfirm = vi.fn();
    drawn = await draw(<CodeView {...props} onConfirm={onConfirm} />);
    await paste(boxes()[0] as HTMLInputElement, '111111');
    expect(onConfirm).toHaveBeenCalledOnce();
    const error = 'Invalid code. Please check the code and try again.';
    await drawn.draw(<CodeView {...props} onConfirm={onConfirm} error={error} />);
    expect(alerts()).toContain(error);
    expect(written()).toBe('111111');
    expect(document.activeElement).toBe(boxes()[0]);
    await paste(boxes()[0] as HTMLInputElement, '222222');
    expect(onConfirm).toHaveBeenCalledOnce();
    await submit(form());
    expect(onConfirm).toHaveBeenLastCalledWith('222222');
  });

  it('cannot be changed while the code is being checked', async () => {
    drawn = await draw(<CodeView {...props} />);
    await paste(boxes()[0] as HTMLInputElement, '123456');
    await drawn.draw(<CodeView {...props} busy />);
    await paste(boxes()[0] as HTMLInputElement, '654321');
    expect(written()).toBe('123456');
  });

  it('can request another code', async () => {
    const onResend = vi.fn();
    drawn = await draw(<CodeView {...props} onResend={onResend} />);
    expect(drawn.host.textContent).toContain("Didn't get a code? Click to resend.");
    await click(button('Click to resend.'));
    expect(onResend).toHaveBeenCalledOnce();
    await drawn.draw(<CodeView {...props} resent />);
    expect(drawn.host.querySelector('[role="status"]')?.textContent).toBe('Resent!');
  });
});

describe('the sign-in panel', () => {
  const start: SignInState = {
    step: 'email',
    email: '',
    purpose: 'login',
    busy: false,
    error: null,
    resent: false,
    social: null,
  };

  it.each<[SignInState['step'], string, string]>([
    ['email', 'Please enter your email address below:', 'Continue'],
    ['sent', 'A login link has been sent to', 'Resend'],
    ['code', 'A verification code was sent to ada@example.com', 'Confirm'],
    ['done', 'Please enter your email address below:', 'One moment…'],
  ])('shows only the view of the step “%s”, with its button and an error', async (step, words, action) => {
    const $state = atom<SignInState>({
      ...start,
      step,
      email: 'ada@example.com',
      error: { where: 'form', text: 'Something went wrong.' },
    });
    drawn = await draw(<SignInPanel flow={{ $state } as unknown as Flow} providers={[]} returnTo="/" />);
    const views = ['enter your email address', 'login link has been sent', 'verification code was sent'];
    const shown = drawn.host.textContent;
    expect(shown).toContain(words);
    expect(views.filter((view) => shown.includes(view))).toHaveLength(1);
    expect(button(action)).toBeInstanceOf(HTMLButtonElement);
    expect(alerts()).toContain('Something went wrong.');
  });

  it('focuses the address after Edit in the view of a sent link', async () => {
    const $state = atom(start);
    const edit = vi.fn(() => $state.set({ ...start, email: 'ada@example.com' }));
    const flow = { $state, edit } as unknown as Flow;
    drawn = await draw(<SignInPanel flow={flow} providers={[]} returnTo="/" />);
    expect(drawn.host.textContent).toContain('By continuing you agree to the terms of use');
    await drawn.draw(null);
    $state.set({ ...start, step: 'sent', email: 'ada@example.com' });
    await drawn.draw(<SignInPanel flow={flow} providers={[]} returnTo="/" />);
    await click(button('Edit'));
    expect(field('Please enter your email address below:').value).toBe('ada@example.com');
    expect(document.activeElement).toBe(field('Please enter your email address below:'));
  });
});
