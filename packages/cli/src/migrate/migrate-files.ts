import { readFile, writeFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { CliError, type ExitCode } from '../cli-error.ts'
import type { CommandContext } from '../command.ts'
import type { Printer } from '../output/printer.ts'
import { diffLines } from './line-diff.ts'
import type { Migration } from './migrate-source.ts'

/** The options of the command. */
export interface MigrateOptions {
  readonly write?: boolean
}

interface MigratedFile extends Migration {
  readonly file: string
  readonly source: string
}

/** Rewrites files of the official SDK. Without `--write` it prints the difference. */
export async function migrateFiles(
  { printer }: CommandContext,
  { write = false }: MigrateOptions,
  files: readonly string[],
): Promise<ExitCode> {
  const migrateSource = await loadMigration()
  const migrated: MigratedFile[] = []
  // All files are rewritten before the first is written: an error leaves no half of a program.
  for (const file of files) {
    const source = await readSource(file)
    migrated.push({ file, source, ...migrateSource(file, source) })
  }
  const changed = migrated.filter(({ source, text }) => text !== source)
  if (write) for (const { file, text } of changed) await writeFile(file, text)
  if (printer.isJson) printer.json({ written: write, install: packagesOf(changed), files: migrated.map(toJson) })
  else printFiles(printer, migrated, write)
  return migrated.every(({ leftovers }) => leftovers.length === 0) ? 0 : 1
}

async function loadMigration(): Promise<(name: string, text: string) => Migration> {
  try {
    return (await import('./migrate-source.ts')).migrateSource
  } catch (cause) {
    if (!(cause instanceof Error) || !cause.message.includes("'ts-morph'")) throw cause
    const message =
      'This command needs the package ts-morph, which is not installed.\n' +
      'If @x/cli is installed in this folder: npm install --save-dev ts-morph@28, then npx mcpx migrate FILE\n' +
      'If not: npx -p @x/cli -p ts-morph@28 mcpx migrate FILE'
    throw new CliError('failure', message, { cause })
  }
}

const extensions: ReadonlySet<string> = new Set(['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx'])

async function readSource(file: string): Promise<string> {
  if (!extensions.has(extname(file))) throw new CliError('usage', `${file} is no TypeScript or JavaScript file`)
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new CliError('failure', `${file} cannot be read`, { cause })
  })
}

/** Returns the packages that the new code imports, and those of the functions that its author has to write. */
function packagesOf(changed: readonly MigratedFile[]): string[] {
  const names = changed.flatMap(({ text, leftovers }) => [
    ...Array.from(text.matchAll(/from ['"](@x\/[\w-]+)/g), ([, name = '']) => name),
    ...leftovers.flatMap(({ message }) => transportsIn(message)),
  ])
  return [...new Set(names)].toSorted()
}

function transportsIn(message: string): readonly string[] {
  if (/\b(?:httpHandler|nodeHandler|serveHttp)\(/.test(message)) return ['@x/transport-http']
  return message.includes('serveStdio(') ? ['@x/transport-stdio'] : []
}

function toJson({ file, source, text, leftovers }: MigratedFile) {
  return {
    file,
    changed: source !== text,
    diff: source === text ? [] : [...diffLines(source, text)],
    leftovers: leftovers.map((one) => ({ ...one })),
  }
}

function printFiles(printer: Printer, migrated: readonly MigratedFile[], isWritten: boolean): void {
  for (const one of migrated) printFile(printer, one, isWritten)
  const changed = migrated.filter(({ source, text }) => text !== source)
  if (changed.length === 0) return
  printer.line(`\nnpm install ${packagesOf(changed).join(' ')}`)
  if (isWritten) printer.line('Then run your formatter, the type check and the tests.')
  else printer.line('Nothing was written. Add --write to change the files.')
}

const diffColors = { '-': 'red', '+': 'green', '@': 'dim' } as const

function printFile(printer: Printer, migrated: MigratedFile, isWritten: boolean): void {
  const { file, source, text, leftovers } = migrated
  if (source === text && leftovers.length === 0) {
    printer.line(`${file}: no code of the official SDK`)
    return
  }
  if (!isWritten && source !== text) printDiff(printer, migrated)
  printer.line(`${file}: ${isWritten && source !== text ? 'rewritten, ' : ''}${countPlaces(leftovers.length)}`)
  for (const { line, newLine, message, guide } of leftovers) {
    printer.line(`  ${file}:${isWritten ? newLine : line}  ${message}`)
    printer.line(printer.color('dim', `    ${guide}`))
  }
}

function printDiff(printer: Printer, { file, source, text }: MigratedFile): void {
  printer.line(printer.color('bold', `--- ${file}\n+++ ${file}`))
  for (const line of diffLines(source, text)) {
    const mark = line.charAt(0)
    printer.line(mark === '-' || mark === '+' || mark === '@' ? printer.color(diffColors[mark], line) : line)
  }
}

function countPlaces(count: number): string {
  if (count === 0) return 'no place to check'
  return count === 1 ? '1 place to rewrite or check by hand' : `${count} places to rewrite or check by hand`
}
