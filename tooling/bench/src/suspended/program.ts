import { measure } from './measure.ts'

/** Measures as many calls as the first argument says; with `leak` as the second one, a handler keeps its contexts. */
async function run([count = '', mode = '']: readonly string[]): Promise<void> {
  const kept: object[] = []
  const measured = await measure(Number(count), mode === 'leak' ? (context) => void kept.push(context) : undefined)
  process.stdout.write(JSON.stringify({ ...measured, kept: kept.length }))
}

void run(process.argv.slice(2))
