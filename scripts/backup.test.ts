import { expect, it } from 'vitest';
import { describeBackup, readEvery } from './backup.ts';
import { readStartOver } from './move-to-postgres.ts';
import { asTable, readRestore } from './restore.ts';

it('the backup command reads --every, and shows its usage for any other argument', () => {
  expect(readEvery([])).toBeNull();
  expect(readEvery(['--every', '60'])).toBe(60);
  for (const args of [['--every'], ['--every', '4'], ['--every', '1m'], ['now'], ['--each', '60']]) {
    expect(() => readEvery(args), args.join(' ')).toThrow('npm run backup -- --every 60');
  }
});

it('the restore command reads the backup and --check, and shows its usage for any other argument', () => {
  expect(readRestore(['latest'])).toEqual({ backup: 'latest', check: false });
  expect(readRestore(['--check', '/backups/one'])).toEqual({ backup: '/backups/one', check: true });
  for (const args of [[], ['--check'], ['one', 'two'], ['--force', 'one']]) {
    expect(() => readRestore(args), args.join(' ')).toThrow('npm run restore -- [--check]');
  }
});

it('the move-to-postgres command reads --start-over, and shows its usage for any other argument', () => {
  expect(readStartOver([])).toBe(false);
  expect(readStartOver(['--start-over'])).toBe(true);
  expect(() => readStartOver(['again'])).toThrow('npm run move-to-postgres');
});

it('a backup is described in one line, and its tables are listed with their row counts', () => {
  const tables = { users: 12_345, jobs: 0, sessions: 7 };
  const files = [{ name: 'accounts.sqlite', bytes: 2_345_678, sha256: '' }];
  const made = '2026-03-10T12:30:00.000Z';
  const manifest = { format: 1, made, engine: 'sqlite', schema: null, migrations: [], tables, files } as const;
  const backup = {
    name: 'a',
    path: '/backups/a',
    time: 0,
    deleted: 1,
    manifest: { ...manifest, files, migrations: [] },
  };
  expect(describeBackup(backup, 1234)).toBe(
    '/backups/a: 12,345 accounts, 2.3 MB, verified, 1.2 s; 1 old backup deleted',
  );
  expect(asTable(tables)).toBe('  users                      12,345\n  sessions                        7');
});
