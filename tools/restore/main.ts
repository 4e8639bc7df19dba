import { spawnSync } from 'node:child_process';
import { DynamoDB } from '@aws-sdk/client-dynamodb';
import { SSM } from '@aws-sdk/client-ssm';
import { settingsPath } from '../../serverless/deploy/settings.ts';
import { stackNameOf } from '../../serverless/deploy/stack.ts';
import { reportStageError, StageError, selectTarget } from '../../serverless/deploy/target.ts';
import { endWithAdvice, parseOptions } from '../parse-options.ts';
import { readOutputs } from '../smoke/deployed-stage.ts';
import { compareBooks, raiseCounter, readCounter } from './stored-books.ts';
import { checkRecoveryWindow, completeTable, findTable, restoreTable, suffixOf } from './table-restore.ts';

const usage = `Usage: npm run restore -- --stage STAGE --at TIME [options]
       npm run restore -- --stage STAGE --table TABLE [options]

Restores the books of a stage as they were at a moment of the last 35 days, beside the table that the stage uses, and then
switches the stage to the restored table. The old table keeps its books: --table OLD switches back. Without --prepare or
--yes, the command only says what it would do. After an interruption, the same command continues. Needs the rights of an
administrator.

  --at TIME         the moment, with a time zone: 2026-01-31T12:00:00Z
  --table TABLE     switch to a table that exists, such as the one before
  --prepare         do everything but the switch, for a look at the comparison, or as a rehearsal
  --yes             do everything
  --region REGION   instead of AWS_REGION`;

/** How far the restored counter is above that of the live table, which goes on counting until the switch. */
const counterMargin = 10_000;

const shownIds = 10;

const { region, ...options } = readOptions();
try {
  selectTarget(options.stage, region);
  await restore(options);
} catch (error) {
  process.exitCode = reportStageError(error as Error);
}

function readOptions() {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const options = { stage: text, region: text, at: text, table: text, prepare: flag, yes: flag };
  const { values } = parseOptions(usage, options);
  const { at, table } = values;
  const stage = values.stage ?? endWithAdvice('--stage is needed.');
  if ((at === undefined) === (table === undefined)) endWithAdvice('Either --at or --table is needed.');
  const moment = at === undefined ? undefined : new Date(at);
  if (moment !== undefined && !(/(Z|[+-]\d\d:\d\d)$/.test(at ?? '') && moment.getTime() < Date.now())) {
    endWithAdvice(`--at ${at} is not a past moment with a time zone, like 2026-01-31T12:00:00Z.`);
  }
  return { ...values, stage, at: moment };
}

type Options = Omit<ReturnType<typeof readOptions>, 'region'>;

async function restore({ stage, at, table, prepare, yes }: Options): Promise<void> {
  const client = new DynamoDB();
  const live = await findLiveTable(stage);
  const suffix = at && suffixOf(at);
  const isDone = suffix !== undefined && live.endsWith(suffix);
  const source = isDone ? live.slice(0, -suffix.length) : live;
  const target = table ?? `${source}${suffix}`;
  const [existing, liveTable] = await Promise.all([findTable(client, target), findTable(client, live)]);
  if (!`${target}-`.startsWith(`${stackNameOf(stage)}-`)) {
    throw new StageError(`The permissions boundary allows tables with names of ${stackNameOf(stage)}-* only.`);
  }
  if (at === undefined && existing === undefined) throw new StageError(`There is no table ${target}.`);
  if (at !== undefined && existing === undefined) await checkRecoveryWindow(client, source, at);

  console.log(`Stage ${stage} uses the table ${live}${liveTable ? '' : ', which does not exist'}.`);
  if (live === target) {
    if (isDone && (prepare || yes)) await raiseCounter(client, target, await readCounter(client, source));
    console.log('There is nothing to switch.');
    return;
  }
  const steps = new Map<string, () => Promise<void>>();
  if (at !== undefined) {
    const title = `Restore ${source} as of ${at.toISOString()} to ${target}`;
    steps.set(title, () => restoreTable(client, source, target, at));
  }
  const completion = 'recovery, time to live, deletion protection, the tags of';
  steps.set(`Give ${target} ${completion} ${live}, and a counter above its counter`, async () => {
    await completeTable(client, liveTable, target);
    // Without the live table, nobody knows which ids it gave to books after the moment.
    const lastId = await readCounter(client, liveTable ? live : target);
    await raiseCounter(client, target, lastId + counterMargin);
  });
  if (liveTable) {
    const title = `Compare the books of ${live} and ${target}, which reads both tables`;
    steps.set(title, () => compareTables(client, live, target));
  }
  if (yes || !prepare) {
    const deployment = `set ${settingsPath(stage)}/tableName, and deploy this folder's version`;
    steps.set(`Switch the stage to ${target}: ${deployment}`, () => switchTable(client, stage, live, target));
  }
  for (const [index, title] of [...steps.keys()].entries()) console.log(`${index + 1}. ${title}`);
  if (!(prepare || yes)) {
    console.log('Nothing has been done. Add --prepare for all steps but the last, or --yes for all.');
    return;
  }
  for (const run of steps.values()) await run();
  if (!yes) console.log(`Nothing has been switched. Add --yes to switch, or delete ${target}.`);
}

async function findLiveTable(stage: string): Promise<string> {
  const { BookTableName = '' } = await readOutputs(stage);
  return BookTableName;
}

async function compareTables(client: DynamoDB, live: string, target: string): Promise<void> {
  const lastId = await readCounter(client, target);
  const { same, changed, onlyInFirst, onlyInSecond } = await compareBooks(client, live, target, lastId);
  const list = (ids: readonly number[]) => {
    const shown = ids.slice(0, shownIds).join(', ');
    return ids.length === 0 ? '0' : `${ids.length} (${shown}${ids.length > shownIds ? ', …' : ''})`;
  };
  console.log(`Books, by id: ${same} are the same in both tables.`);
  console.log(`Changed back by a switch to ${target}: ${list(changed)}`);
  console.log(`Lost: ${list(onlyInFirst)}`);
  console.log(`Brought back: ${list(onlyInSecond)}`);
}

async function switchTable(client: DynamoDB, stage: string, live: string, target: string): Promise<void> {
  const Name = `${settingsPath(stage)}/tableName`;
  await new SSM().putParameter({ Name, Value: target, Type: 'String', Overwrite: true });
  spawnSync('npm', ['run', 'deploy', '--', '--stage', stage], { stdio: 'inherit' });
  const now = await findLiveTable(stage);
  if (now !== target) {
    throw new StageError(`The deploy failed: the stage still uses ${now}. The same command tries again.`);
  }
  console.log(`Stage ${stage} uses ${target}.`);
  if ((await findTable(client, live)) === undefined) return;
  // Books that were created in the old table during the deploy must not share their ids with others.
  await raiseCounter(client, target, await readCounter(client, live));
  console.log(`${live} is as it was; it costs its storage until you delete it.`);
  console.log(`The way back: npm run restore -- --stage ${stage} --table ${live} --yes`);
}
