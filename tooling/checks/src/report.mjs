import { realpathSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { workspaceRoot } from './workspace.mjs'

/**
 * A check returns its problems. The first line of a problem describes it, and the second line is the remedy.
 * @typedef {(root: string, flags: readonly string[]) => string[] | Promise<string[]>} Check
 */

/** @param {string} what @param {string} remedy */
export function problem(what, remedy) {
  return `${what}\n  ${remedy}`
}

/**
 * Returns true if a module is the started program.
 * @param {string} url The module's `import.meta.url`.
 */
export function isProgram(url) {
  const started = process.argv[1]
  return started !== undefined && pathToFileURL(realpathSync(started)).href === url
}

/**
 * Runs a check over the workspace if its file is the started program. Prints its problems, and sets the exit code.
 * @param {string} url
 * @param {Check} check
 */
export async function runCheck(url, check) {
  if (!isProgram(url)) return
  const problems = await check(workspaceRoot, process.argv.slice(2))
  for (const found of problems) console.error(found)
  if (problems.length > 0) process.exitCode = 1
}
