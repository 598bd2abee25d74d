import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { problem } from './report.mjs'

const page = 'docs/seeds.md'
const ruleId = /\b[A-Z]{3}-\d{3}\b/g
const testFile = /`([^`]+\.test\.ts)`/g
const decision = /\]\((decisions\/[^)]+\.md)\)/g

/**
 * Reports a statement of the seeds without a proof, and a proof that does not exist: a rule without a test or a reason,
 * a missing test file, or a missing decision.
 * @param {string} root
 * @param {ReadonlySet<string>} proved The rules that have a test or a reason.
 * @returns {string[]}
 */
export function checkSeeds(root, proved) {
  if (!existsSync(join(root, page))) return []
  const lines = readFileSync(join(root, page), 'utf8').split('\n')
  return lines.flatMap((line, index) => {
    const cells = line.split('|').map((cell) => cell.trim())
    const isRow = line.startsWith('|') && !/^[\s|-]+$/.test(line) && !lines[index + 1]?.startsWith('| ---')
    return isRow ? checkProof(root, proved, { place: `${page}:${index + 1}`, proof: cells.at(-2) ?? '' }) : []
  })
}

/**
 * @param {string} root
 * @param {ReadonlySet<string>} proved
 * @param {{ place: string, proof: string }} row
 * @returns {string[]}
 */
function checkProof(root, proved, { place, proof }) {
  const rules = proof.match(ruleId) ?? []
  const files = [...proof.matchAll(testFile)].map(([, path = '']) => path)
  const decisions = [...proof.matchAll(decision)].map(([, path = '']) => `docs/${path}`)
  if (rules.length + files.length + decisions.length === 0) {
    return [
      problem(`${place} has no proof`, 'name a rule that a test cites, a test file, or a decision in its last column'),
    ]
  }
  const unproved = rules.filter((id) => !proved.has(id))
  const absent = [...files, ...decisions].filter((path) => !existsSync(join(root, path)))
  return [
    ...unproved.map((id) => problem(`${place} names ${id}`, 'the rule has no test: cite a rule with a test')),
    ...absent.map((path) => problem(`${place} names ${path}`, 'the file does not exist: correct the path')),
  ]
}
