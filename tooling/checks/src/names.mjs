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
 * Checks that names of files are in kebab case and not vague.
 * @param {string} root
 */
export function checkNames(root) {
  return listFiles(root)
    .filter((file) => sourceFile.test(file))
    .flatMap((file) => {
      const segments = file.split('/').map((segment) => segment.replace(/^\./, '').split('.')[0] ?? '')
      const vaguePart = segments.find((segment) => segment.split('-').some((word) => vague.has(word)))
      if (vaguePart !== undefined) {
        return [problem(`${file}: "${vaguePart}" is vague`, 'name the file after its content')]
      }
      const invalidPart = segments.find((segment) => !kebab.test(segment))
      return invalidPart === undefined
        ? []
        : [problem(`${file}: "${invalidPart}" is not kebab-case`, 'write it in-this-form')]
    })
}

await runCheck(import.meta.url, checkNames)
