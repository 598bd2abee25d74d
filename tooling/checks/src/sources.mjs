import { checkApi } from './api.mjs'
import { checkBorders } from './borders.mjs'
import { checkChangesets } from './changesets.mjs'
import { checkCollections } from './collections.mjs'
import { checkDocs } from './docs.mjs'
import { checkMentions } from './mentions.mjs'
import { checkPaths } from './paths.mjs'
import { checkRegularExpressions } from './regular-expressions.mjs'
import { runCheck } from './report.mjs'
import { checkRequirements } from './requirements.mjs'

/**
 * The checks that read the sources. They run in one process, because they share what they parse. Those that draw files
 * come first.
 * @type {Readonly<Record<string, import('./report.mjs').Check>>}
 */
export const sourceChecks = {
  api: checkApi,
  docs: checkDocs,
  paths: checkPaths,
  borders: checkBorders,
  mentions: checkMentions,
  collections: checkCollections,
  'regular-expressions': checkRegularExpressions,
  requirements: checkRequirements,
  changesets: checkChangesets,
}

/**
 * @param {string} root
 * @param {readonly string[]} words Names of checks, all by default, and `--write`, which draws files.
 */
async function checkSources(root, words) {
  const chosen = words.filter((word) => !word.startsWith('--'))
  const checks = Object.entries(sourceChecks).filter(([name]) => chosen.length === 0 || chosen.includes(name))
  const problems = await Promise.all(checks.map(([, check]) => check(root, words)))
  return problems.flat()
}

await runCheck(import.meta.url, checkSources)
