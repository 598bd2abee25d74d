import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { parse } from 'yaml'
import * as z from 'zod'
import { runCommand } from './run-command.ts'

const step = z.object({
  run: z.string().optional(),
  with: z.object({ version: z.string().optional() }).optional(),
})
const workflow = z.object({ jobs: z.record(z.string(), z.object({ steps: z.array(step) })) })

/** A job of the workflow that releases, in a fresh clone. */
export interface ReleaseJob {
  readonly name: 'versions' | 'pack' | 'publish'
  /** The folder of the clone, which is created. */
  readonly folder: string
  /** The repository to clone. */
  readonly from: string
  readonly env?: Readonly<Record<string, string>>
  /** Called when the repository is cloned, before the first step. */
  readonly prepare?: () => Promise<unknown>
}

/**
 * Clones a repository and runs the shell steps of a job in their order, with the commands that a step gives to an action.
 * `gh` is a program that does nothing. Resolves to the output of all steps.
 */
export async function runReleaseJob({ name, folder, from, env = {}, prepare }: ReleaseJob): Promise<string> {
  await runCommand('git', ['clone', '--quiet', from, folder], '.')
  await prepare?.()
  const programs = `${folder}-programs`
  await mkdir(programs)
  await writeFile(`${programs}/gh`, '#!/bin/sh\n')
  await chmod(`${programs}/gh`, 0o755)
  const { jobs } = workflow.parse(parse(await readFile(`${folder}/.github/workflows/release.yml`, 'utf8')))
  const commands = (jobs[name]?.steps ?? [])
    .map((one) => one.run ?? one.with?.version)
    .filter((one) => one !== undefined)
  if (commands.length === 0) throw new Error(`The workflow has no steps of the job ${name}`)
  let output = ''
  for (const command of commands) {
    // As GitHub runs a step.
    const args = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', command]
    output += await runCommand('bash', args, { folder, env: { ...env, PATH: `${programs}:${process.env['PATH']}` } })
  }
  return output
}

const bill = z.object({ components: z.array(z.object({ group: z.string().optional(), name: z.string() })) })

/** Returns the packages that a bill of materials names (CycloneDX). */
export async function readBillOfMaterials(file: string): Promise<readonly string[]> {
  const { components } = bill.parse(JSON.parse(await readFile(file, 'utf8')))
  return components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`))
}
