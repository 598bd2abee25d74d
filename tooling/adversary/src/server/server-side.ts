import type { Side } from '../attack.ts'
import { startHonestClient } from '../honest-client.ts'
import { type Attacker, createAttacker } from './attacker.ts'
import { byteAttacks } from './byte-attacks.ts'
import { costlyInputs } from './costly-inputs.ts'
import type { Endpoints } from './endpoints.ts'
import { olderAttacks } from './older-attacks.ts'
import { quotaAttacks } from './quota-attacks.ts'
import { stateAttacks } from './state-attacks.ts'
import { tokenAttacks } from './token-attacks.ts'
import { stdioAttacks, trickAttacks, wireAttacks } from './wire-attacks.ts'

/** Attacks by hostile clients on all configurations of our server. */
export const serverSide: Side<Attacker> = {
  program: 'server/target-server.js',
  connect: async (target) => createAttacker(target, await target.ask<Endpoints>('endpoints')),
  startHonest: async (target) => startHonestClient((await target.ask<Endpoints>('endpoints')).shop),
  classes: {
    ...costlyInputs,
    state: stateAttacks,
    quotas: quotaAttacks,
    tokens: tokenAttacks,
    'older clients': olderAttacks,
    connections: [...wireAttacks, ...byteAttacks],
    tricks: trickAttacks,
    stdio: stdioAttacks,
  },
}
