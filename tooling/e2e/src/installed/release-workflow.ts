import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { parse } from 'yaml'
import * as z from 'zod'
import { runCommand } from './run-command.ts'

const job = z.object({ steps: z.array(z.object({ run: z.string().optional() })) })
const workflow = z.object({ jobs: z.record(z.string(), job) })

type JobName = 'versions' | 'pull-request' | 'pack' | 'publish'

/** A job of the workflow that releases, in a fresh clone. */
export interface ReleaseJob {
  readonly name: JobName
  /** The folder of the clones. Each has the name of its job. */
  readonly place: string
  /** The repository to clone. */
  readonly from: string
  readonly env?: Readonly<Record<string, string>>
  /** A result of another job, which is there before the first step. */
  readonly artifact?: { readonly of: JobName; readonly file: string }
}

/**
 * Clones a repository and runs the shell steps of a job in their order. `gh` is a program that does nothing. Resolves to
 * the output of all steps.
 */
export async function runReleaseJob({ name, place, from, env = {}, artifact }: ReleaseJob): Promise<string> {
  const folder = `${place}/${name}`
  await runCommand('git', ['clone', '--quiet', from, folder], '.')
  if (artifact !== undefined) {
    const path = `.results/${artifact.file}`
    await cp(`${place}/${artifact.of}/${path}`, `${folder}/${path}`, { recursive: true })
  }
  const programs = `${folder}-programs`
  await mkdir(programs)
  await writeFile(`${programs}/gh`, '#!/bin/sh\n')
  await chmod(`${programs}/gh`, 0o755)
  const { jobs } = workflow.parse(parse(await readFile(`${folder}/.github/workflows/release.yml`, 'utf8')))
  const commands = (jobs[name]?.steps ?? []).map(({ run }) => run).filter((run) => run !== undefined)
  if (commands.length === 0) throw new Error(`The workflow has no steps of the job ${name}`)
  let output = ''
  for (const command of commands) {
    // As GitHub runs a step.
    const args = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', command]
    const variables = { PATH: `${programs}:${process.env['PATH']}`, GITHUB_OUTPUT: `${programs}/output` }
    output += await runCommand('bash', args, { folder, env: { ...env, ...variables } })
  }
  return output
}

const bill = z.object({ components: z.array(z.object({ group: z.string().optional(), name: z.string() })) })

/** Returns the packages that a bill of materials names (CycloneDX). */
export async function readBillOfMaterials(file: string): Promise<readonly string[]> {
  const { components } = bill.parse(JSON.parse(await readFile(file, 'utf8')))
  return components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`))
}
