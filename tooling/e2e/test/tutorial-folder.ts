import { execFile } from 'node:child_process'
import { cp, readFile } from 'node:fs/promises'
import { cleanEnvironment } from '../src/installed/run-command.ts'

const steps = new URL('../tutorial/', import.meta.url)

/** The folder in which a test follows the tutorial. */
export interface TutorialFolder {
  /** Copies the files of a step into the folder. */
  save(step: number): Promise<void>
  /** Runs a script of a step, after replacing texts in it, and resolves to its output. */
  run(script: string, replaced?: Readonly<Record<string, string>>): Promise<string>
}

/** Creates the functions that follow the tutorial in a folder. */
export function tutorialFolder(folder: string): TutorialFolder {
  const options = { cwd: folder, env: cleanEnvironment() }
  return {
    save: (step) => cp(new URL(`step-${step}`, steps), folder, { recursive: true }),
    run: async (script, replaced = {}) => {
      let commands = await readFile(`${folder}/${script}`, 'utf8')
      for (const [text, replacement] of Object.entries(replaced)) commands = commands.replaceAll(text, replacement)
      return new Promise((resolve, reject) => {
        execFile('sh', ['-c', commands], options, (error, stdout, stderr) => {
          // The command prints the error of a tool and exits with code 5.
          if (error !== null && error.code !== 5) return reject(new Error(`${script}: ${stdout}${stderr}`))
          resolve(`${stdout}${stderr}`)
        })
      })
    },
  }
}

/** Reads the output that the tutorial page shows. */
export function readShownOutput(file: string): Promise<string> {
  return readFile(new URL(file, steps), 'utf8')
}
