/**
 * Words of HTTP APIs and of their users that mean the same. `log_in` is two words. A word may be in several groups: a
 * release is a version, and its verb is to publish.
 */
const synonyms = `
  add new make create insert register provision set_up generate,
  get show read view fetch retrieve see display describe lookup look_up check inspect,
  list all enumerate browse index overview who which, search find query discover locate look_up,
  update edit change modify set patch alter adjust rename configure correct amend,
  delete remove destroy drop erase clear discard purge uninstall get_rid,
  run start launch trigger begin execute dispatch invoke,
  stop end halt terminate abort cancel kill shutdown shut_down, restart reboot rerun retry redo repeat,
  enable activate allow permit turn_on switch_on, disable deactivate suspend pause turn_off switch_off,
  send post publish say share deliver submit announce, upload import push, download export fetch save,
  copy clone duplicate fork, move transfer migrate relocate, merge combine join integrate, sync synchronize,
  close resolve finish complete, lock freeze block ban, unlock unfreeze unblock, approve accept confirm authorize,
  reject decline deny dismiss refuse, assign give grant allocate, attach connect link mount associate,
  detach disconnect unlink unmount, revoke invalidate withdraw expire, restore recover undelete,
  rollback roll_back go_back revert undo previous, reset forget renew regenerate rotate, subscribe follow watch,
  unsubscribe unfollow ignore, mute silence snooze quiet dnd, invite ask request, require protect enforce restrict,
  convert turn transform, user person people member account employee, owner ownership author creator,
  contributor author committer, collaborator contractor external, review reviewer approval approver,
  organization org company enterprise business firm, team group crew, repository repo codebase, project board,
  source code content, issue ticket bug, comment reply remark note, message chat text,
  conversation discussion thread dm, channel room, branch ref, commit revision, workflow pipeline ci build, job task,
  release version, pr pull_request, server machine vm virtual_machine instance host node droplet,
  database db sql postgres postgresql mysql redis, disk volume, network vpc subnet, ip address, domain dns hostname,
  port rule firewall traffic, certificate cert tls ssl, lb load_balancer, cluster kubernetes k8s,
  key token credential secret password passphrase, permission role access right privilege, invoice bill receipt,
  balance money owe debt, price cost charge, metric statistic stat usage graph, log output record,
  history audit trail, alert alarm warning, notification inbox notify, uptime downtime outage availability,
  schedule plan cron calendar, date time day, file document doc attachment, folder directory, image picture photo,
  backup snapshot, email mail, login log_in sign_in authenticate session, logout log_out sign_out,
  limit quota left remaining, status state health presence, website site app application, region location datacenter,
  package library module dependency npm`

const stopWords = new Set(
  `a about after again already also am an and any anybody anyone anything are as at be been before but by can could did do
  does done each else every everyone everything for from had has have here how i if in into is it its just like may me might
  mine more most must my need no nobody not nothing now of on one only onto or our out over per please really right shall
  should so some somebody someone something still than that the their then there these they thing things this those to today
  tomorrow under up us use used using very via want was we were what when where whom whose why will with without would you
  your`.split(/\s+/),
)

const groups = synonyms.split(',').map((group) => group.trim().split(/\s+/))

const pairs = groups.flat().flatMap((word) => (word.includes('_') ? [word.replace('_', ' ')] : []))
const pairPattern = new RegExp(`\\b(?:${pairs.join('|')})`, 'g')

/** Marks keep groups and words apart, also from the members that every object has. */
const groupsByWord = readGroups()

function readGroups(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  for (const [index, words] of groups.entries())
    for (const base of words.map((word) => stem(word.replace('_', ''))))
      found.set(base, [...(found.get(base) ?? []), `#${index}`])
  return found
}

/** One word of a text: its own term, and those of the groups that it is in. */
export type Terms = readonly string[]

/** Words of a text that say something. */
export function readTerms(text: string): readonly Terms[] {
  const words =
    text
      .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? []
  const joined = words.join(' ').replace(pairPattern, (pair) => pair.replace(' ', ''))
  return joined.split(' ').flatMap((word) => knownTerms.get(word) ?? readWord(word))
}

/** Texts of tools use the same words again and again. */
const knownTerms = new Map<string, readonly Terms[]>()
const maxKnownTerms = 10_000

function readWord(word: string): readonly Terms[] {
  const base = stem(word)
  const isSilent = word === '' || stopWords.has(word)
  const terms = isSilent ? [] : [[`=${base}`, ...(groupsByWord.get(base) ?? [])]]
  if (knownTerms.size >= maxKnownTerms) knownTerms.clear()
  knownTerms.set(word, terms)
  return terms
}

/** Removes the endings of English plurals and verbs. Both sides lose them, so that the rest need not be a word. */
function stem(word: string): string {
  if (word.length <= 3) return word
  const singular = word
    .replace(/ies$/, 'y')
    .replace(/(s|x|z|ch|sh)es$/, '$1')
    .replace(/([^sui])s$/, '$1')
  const verb = singular.replace(/(?:ing|ed)$/, '')
  const base = verb.length < 3 || !/[aeiouy]/.test(verb) ? singular : verb
  const shortened = base === singular ? base : base.replace(/([b-df-hj-km-np-rtv-z])\1$/, '$1')
  return shortened.length > 3 ? shortened.replace(/e$/, '') : shortened
}
