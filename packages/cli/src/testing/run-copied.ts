import { execFile } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Resolves with what a command of a shell wrote. */
export function runShell(command: string): Promise<string> {
  return new Promise((resolve) => {
    execFile('/bin/sh', ['-c', command], (_, out, err) => resolve(out + err))
  })
}

/** Runs a copied test in this run of Vitest, where `node:test` would have no reporter. Rejects as the test fails. */
export async function runCopiedTest(text: string): Promise<void> {
  const path = fileURLToPath(new URL('../../.results/copied.ts', import.meta.url))
  const declared = 'export let run\nconst test = (_, body) => void (run = body)\n'
  // A fresh clone has no folder for results yet.
  await mkdir(new URL('.', pathToFileURL(path)), { recursive: true })
  await writeFile(path, declared + text.replace("import { test } from 'node:test'\n", ''))
  const ends: (() => Promise<void>)[] = []
  try {
    const { run } = await import(/* @vite-ignore */ path)
    await run({ after: (end: () => Promise<void>) => void ends.push(end) })
  } finally {
    for (const end of ends) await end()
    await rm(path)
  }
}
