import { problem, runCheck } from './report.mjs'
import { listFiles } from './workspace.mjs'

const vague = new Set([
  'util',
  'utils',
  'utility',
  'utilities',
  'helper',
  'helpers',
  'common',
  'misc',
  'shared',
  'lib',
  'impl',
  'manager',
])
const sourceFile = /^(packages|apps|tooling)\/.*\.(ts|mts|mjs|js)$/
const kebab = /^[a-z0-9]+(-[a-z0-9]+)*$/

/**
 * Files are kebab-case and named for one thing.
 * @param {string} root
 */
export function checkNames(root) {
  return listFiles(root)
    .filter((file) => sourceFile.test(file))
    .flatMap((file) => {
      const segments = file.split('/').map((segment) => segment.replace(/^\./, '').split('.')[0] ?? '')
      const empty = segments.find((segment) => segment.split('-').some((word) => vague.has(word)))
      if (empty !== undefined) {
        return [problem(`${file}: "${empty}" says nothing of what is in it`, 'name it for the one thing it does')]
      }
      const crooked = segments.find((segment) => !kebab.test(segment))
      return crooked === undefined ? [] : [problem(`${file}: "${crooked}" is not kebab-case`, 'write it like-this')]
    })
}

await runCheck(import.meta.url, checkNames)
