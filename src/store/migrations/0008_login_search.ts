// A trigram index of user names and addresses in the login log, so that a search need not read the whole log. Only for SQLite
// (https://www.sqlite.org/fts5.html#the_trigram_tokenizer). The index contains no copy of the texts.
import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.raw(
    "create virtual table logins_text using fts5(username, client, content='logins', content_rowid='id', tokenize='trigram')",
  );
  await db.raw("insert into logins_text(logins_text) values ('rebuild')");
  await db.raw(
    `create trigger logins_text_added after insert on logins begin
       insert into logins_text(rowid, username, client) values (new.id, new.username, new.client);
     end`,
  );
  // There is no update trigger, because the two columns never change.
  await db.raw(
    `create trigger logins_text_removed after delete on logins begin
       insert into logins_text(logins_text, rowid, username, client)
         values ('delete', old.id, old.username, old.client);
     end`,
  );
}
