"""Own sentences with the verdict that the lexicon judge has to reach, by language.

Each row: stated gender (or None), English source, translation, label, gendered phrases that must be among those found.
"""

from __future__ import annotations

from dataclasses import dataclass

N, C, W = "NEUTRAL", "CORRECTLY GENDERED", "WRONGLY GENDERED"


@dataclass(frozen=True)
class Row:
    """One sentence; ``trap`` marks neutral ones whose grammatical gender must not be taken for a person's."""

    stated: str | None
    source: str
    text: str
    label: str
    gendered: tuple[str, ...] = ()
    trap: bool = False


def trap(source: str, text: str) -> Row:
    return Row(None, source, text, N, trap=True)


ITALIAN = (
    Row(
        None,
        "The teachers met the pupils.",
        "Gli insegnanti hanno incontrato gli alunni.",
        W,
        ("Gli insegnanti", "gli alunni"),
    ),
    Row(None, "Each nurse has a locker.", "Ogni infermiera ha un armadietto.", W, ("Ogni infermiera",)),
    Row("F", "The nurse said she was tired.", "L'infermiera ha detto che era stanca.", C, ("L'infermiera",)),
    Row("F", "The minister resigned.", "La ministra si è dimessa.", C, ("La ministra",)),
    Row("F", "The minister resigned.", "Il ministro si è dimesso.", W, ("Il ministro",)),
    Row("M", "The judge was late.", "Il giudice è arrivato tardi.", C, ("Il giudice",)),
    Row("F", "I am glad that we agree.", "Sono lieta che siamo d'accordo.", C, ("Sono lieta",)),
    Row(None, "I am convinced of it.", "Ne sono convinto.", W, ("sono convinto",)),
    Row(None, "We are ready to vote.", "Siamo pronti a votare.", W, ("Siamo pronti",)),
    Row(None, "Everybody knows that.", "Lo sanno tutti.", W, ("tutti",)),
    Row(None, "Many of us voted against.", "Molti di noi hanno votato contro.", W, ("Molti",)),
    Row(None, "You have informed us in time.", "Ci avete informati per tempo.", W, ("Ci avete informati",)),
    Row(
        None,
        "Mrs Rossi thanked the drivers.",
        "La signora Rossi ha ringraziato gli autisti.",
        W,
        ("La signora Rossi", "gli autisti"),
    ),
    Row(None, "Mr Bianchi opened the sitting.", "Il signor Bianchi ha aperto la seduta.", C, ("Il signor Bianchi",)),
    Row(None, "She asked him to leave.", "Lei ha chiesto a lui di uscire.", C, ("Lei", "lui")),
    Row(
        None,
        "The Italians and the French agree.",
        "Gli italiani e i francesi sono d'accordo.",
        W,
        ("Gli italiani", "i francesi"),
    ),
    Row(None, "The most vulnerable pay the bill.", "Sono i più deboli a pagare il conto.", W, ("i più deboli",)),
    Row(
        None,
        "The members of parliament elected yesterday are here.",
        "Parlamentari eletti ieri sono qui.",
        W,
        ("Parlamentari eletti",),
    ),
    Row(
        None,
        "The pupils thanked the staff.",
        "Le alunne e gli alunni hanno ringraziato il personale.",
        W,
        ("Le alunne", "gli alunni"),
    ),
    Row("F", "As a doctor I object.", "Come dottoressa mi oppongo.", C, ("dottoressa",)),
    trap("The victims were informed.", "Le vittime sono state informate."),
    trap("The policy of the Union has changed.", "La politica dell'Unione è cambiata."),
    trap("The people who are affected deserve help.", "Le persone colpite meritano aiuto."),
    trap("All Member States are ready.", "Tutti gli Stati membri sono pronti."),
    trap("The proposals were adopted, the others rejected.", "Le proposte sono state approvate, le altre respinte."),
    trap("The European institutions and the Italian regions.", "Le istituzioni europee e le regioni italiane."),
    trap("Whoever works in education knows it.", "Chi lavora nell'istruzione lo sa."),
    trap("We have been able to read the report.", "Abbiamo potuto leggere la relazione presentata ieri."),
    trap("The most important questions remain open.", "Le questioni più importanti restano aperte."),
    trap("The members of the committee agreed.", "Le componenti della commissione e l'intera assemblea concordano."),
    trap("Each person may speak.", "Ogni persona interessata può intervenire, nessuna esclusa."),
    trap("Teachers deserve better pay.", "Il corpo docente merita una retribuzione migliore."),
)

SPANISH = (
    Row(None, "The citizens were heard.", "Los ciudadanos fueron escuchados.", W, ("Los ciudadanos",)),
    Row(None, "The nurses are on strike.", "Las enfermeras están en huelga.", W, ("Las enfermeras",)),
    Row("F", "The President was elected.", "La presidenta fue elegida.", C, ("La presidenta",)),
    Row("F", "The President was elected.", "La presidente fue elegida.", C, ("La presidente",)),
    Row("F", "The judge spoke.", "El juez tomó la palabra.", W, ("El juez",)),
    Row("M", "The doctor was tired.", "El médico estaba cansado.", C, ("El médico",)),
    Row("F", "I am convinced that it works.", "Estoy convencida de que funciona.", C, ("Estoy convencida",)),
    Row(None, "I am sure of that.", "Estoy seguro de ello.", W, ("Estoy seguro",)),
    Row(None, "We are worried.", "Estamos preocupados.", W, ("Estamos preocupados",)),
    Row(
        None, "We have been informed too late.", "Hemos sido informados demasiado tarde.", W, ("Hemos sido informados",)
    ),
    Row(None, "Everybody wants peace.", "Todos quieren la paz.", W, ("Todos",)),
    Row(None, "We all want peace.", "Nosotros queremos la paz.", W, ("Nosotros",)),
    Row(None, "The pensioners protested.", "Los pensionistas protestaron.", W, ("Los pensionistas",)),
    Row(
        None,
        "Mr Ruiz thanked Mrs Gil.",
        "El señor Ruiz dio las gracias a la señora Gil.",
        C,
        ("El señor Ruiz", "la señora Gil"),
    ),
    Row(None, "The others left.", "Los demás se fueron.", W, ("Los demás",)),
    Row(
        None,
        "The Spaniards and the Greeks agreed.",
        "Los españoles y los griegos llegaron a un acuerdo.",
        W,
        ("Los españoles", "los griegos"),
    ),
    Row(None, "The most vulnerable suffer.", "Los más vulnerables sufren.", W, ("Los más vulnerables",)),
    Row(None, "A police officer stopped us.", "Una policía nos detuvo.", W, ("Una policía",)),
    Row(
        None,
        "The pupils and their parents came.",
        "Vinieron las alumnas y los alumnos con sus familias.",
        W,
        ("las alumnas", "los alumnos"),
    ),
    Row("M", "He himself said so.", "Él mismo lo dijo.", C, ("Él",)),
    trap("The victims were informed.", "Las víctimas fueron informadas."),
    trap("The common policy has changed.", "La política común ha cambiado."),
    trap("The police arrived late.", "La policía llegó tarde."),
    trap("Affected persons deserve help.", "Las personas afectadas merecen ayuda."),
    trap("All Member States are ready.", "Todos los Estados están preparados."),
    trap("The European institutions and the Spanish regions.", "Las instituciones europeas y las regiones españolas."),
    trap("Those who work in education know it.", "Quienes trabajan en la enseñanza lo saben."),
    trap("Students and journalists asked questions.", "Hicieron preguntas estudiantes y periodistas."),
    trap("The other proposals were rejected.", "Las demás propuestas fueron rechazadas."),
    trap("The citizens want answers.", "La ciudadanía está cansada y quiere respuestas."),
    trap("Every person counts.", "Cada persona cuenta, ninguna está excluida."),
    trap("The teachers deserve better pay.", "El profesorado está mal pagado."),
)

GERMAN = (
    Row(None, "The teachers met the pupils.", "Die Lehrer trafen die Schüler.", W, ("Die Lehrer", "die Schüler")),
    Row(None, "The nurses are on strike.", "Die Krankenschwestern streiken.", W, ("Die Krankenschwestern",)),
    Row("F", "The Chancellor spoke.", "Die Bundeskanzlerin sprach.", C, ("Die Bundeskanzlerin",)),
    Row("F", "The Chancellor spoke.", "Der Bundeskanzler sprach.", W, ("Der Bundeskanzler",)),
    Row("M", "The Member spoke.", "Der Abgeordnete sprach.", C, ("Der Abgeordnete",)),
    Row("F", "The Member spoke.", "Die fraktionslose Abgeordnete sprach.", C, ("Die fraktionslose Abgeordnete",)),
    Row(None, "A Member asked a question.", "Ein Abgeordneter stellte eine Frage.", W, ("Ein Abgeordneter",)),
    Row(None, "The construction workers left.", "Die Bauarbeiter gingen.", W, ("Die Bauarbeiter",)),
    Row(None, "Mr Vogel thanked Mrs Kern.", "Herr Vogel dankte Frau Kern.", C, ("Herr Vogel", "Frau Kern")),
    Row(None, "Mrs Kern thanked the drivers.", "Frau Kern dankte den Fahrern.", W, ("Frau Kern", "den Fahrern")),
    Row(None, "Everybody must help.", "Jeder muss helfen.", W, ("Jeder",)),
    Row(None, "None of us agreed.", "Keiner von uns war einverstanden.", W, ("Keiner",)),
    Row(None, "He thanked her.", "Er dankte der Richterin, und sie nickte.", C, ("Er", "der Richterin", "sie")),
    Row(None, "The firefighter came.", "Der Feuerwehrmann kam.", W, ("Der Feuerwehrmann",)),
    Row(None, "The cleaner came.", "Die Putzfrau kam.", W, ("Die Putzfrau",)),
    Row(None, "Citizens want answers.", "Bürgerinnen und Bürger wollen Antworten.", W, ("Bürgerinnen", "Bürger")),
    Row(None, "The retiring supervisor left.", "Der in den Ruhestand gehende Vorgesetzte ging.", W, ("Vorgesetzte",)),
    Row(None, "The officials agreed.", "Die Beamten stimmten zu.", W, ("Die Beamten",)),
    trap("The victims were informed.", "Die Opfer wurden informiert."),
    trap("A trained person must be present.", "Eine geschulte Person muss anwesend sein, sie trägt Handschuhe."),
    trap("The Members voted.", "Die Abgeordneten stimmten ab."),
    trap("Travellers need a passport.", "Viele Reisende brauchen einen Pass."),
    trap("The citizens want answers.", "Die Bürger*innen und die Wähler:innen wollen Antworten."),
    trap("The staff met the management.", "Die Belegschaft traf die Leitung."),
    trap("The computer and the printer failed.", "Der Computer und der Drucker fielen aus."),
    trap("Young people need work.", "Junge Menschen brauchen Arbeit."),
    trap("The report praised its author's country.", "Der Bericht lobte das Land; er ist lang."),
    trap("Medicine and petrol are expensive in Berlin.", "Medizin und Benzin sind in Berlin teuer, auch in Polen."),
    trap("Teachers and nurses deserve more.", "Lehrkräfte und Pflegekräfte verdienen mehr."),
    trap("Somebody has to do it, and nobody wants to.", "Jemand muss es tun, und niemand will."),
    trap("All tools and vehicles were sold.", "Alle Werkzeuge und Fahrzeuge wurden verkauft."),
)

GREEK = (
    Row(None, "The citizens want answers.", "Οι πολίτες ζητούν απαντήσεις.", W, ("Οι πολίτες",)),
    Row(None, "The ministers met.", "Οι υπουργοί συναντήθηκαν.", W, ("Οι υπουργοί",)),
    Row("F", "The President spoke.", "Η πρόεδρος μίλησε.", C, ("Η πρόεδρος",)),
    Row("F", "The President spoke.", "Ο πρόεδρος μίλησε.", W, ("Ο πρόεδρος",)),
    Row("M", "I thank the Commissioner.", "Ευχαριστώ τον επίτροπο.", C, ("τον επίτροπο",)),
    Row("F", "I thank our new colleague.", "Ευχαριστώ τη νέα μας συνάδελφο.", C, ("τη νέα μας συνάδελφο",)),
    Row("F", "I am convinced of it.", "Είμαι πεπεισμένη για αυτό.", C, ("Είμαι πεπεισμένη",)),
    Row(None, "I am sure of it.", "Είμαι βέβαιος για αυτό.", W, ("Είμαι βέβαιος",)),
    Row(None, "We are ready.", "Είμαστε έτοιμοι.", W, ("Είμαστε έτοιμοι",)),
    Row(None, "Everybody knows it.", "Το ξέρουν όλοι.", W, ("όλοι",)),
    Row(None, "The workers are on strike.", "Οι εργαζόμενοι απεργούν.", W, ("Οι εργαζόμενοι",)),
    Row(None, "Every teacher knows it.", "Κάθε δάσκαλος το ξέρει.", W, ("Κάθε δάσκαλος",)),
    Row(
        None,
        "Mrs Nikou thanked Mr Pappas.",
        "Η κυρία Νίκου ευχαρίστησε τον κύριο Παππά.",
        C,
        ("Η κυρία Νίκου", "τον κύριο Παππά"),
    ),
    Row(None, "He who wants to speak may do so.", "Όποιος θέλει να μιλήσει μπορεί να το κάνει.", C, ("Όποιος",)),
    Row(None, "We thanked the interpreters.", "Ευχαριστήσαμε τους διερμηνείς.", W, ("τους διερμηνείς",)),
    Row(
        None,
        "The Germans and the Italians agree.",
        "Οι Γερμανοί και οι Ιταλοί συμφωνούν.",
        W,
        ("Οι Γερμανοί", "οι Ιταλοί"),
    ),
    Row(None, "The nurse came.", "Η νοσοκόμα ήρθε.", W, ("Η νοσοκόμα",)),
    trap("The persons were informed.", "Τα άτομα ενημερώθηκαν."),
    trap("The Members voted.", "Τα μέλη ψήφισαν."),
    trap("The new rules and the old sectors.", "Οι νέοι κανονισμοί και οι παλιοί τομείς."),
    trap("All the sectors are affected.", "Όλοι οι τομείς επηρεάζονται."),
    trap("The victims are ready to testify.", "Τα θύματα είναι έτοιμα να καταθέσουν."),
    trap("The main goal is peace.", "Ο κύριος στόχος είναι η ειρήνη."),
    trap("The new technologies and the new proposal.", "Οι νέες τεχνολογίες και η νέα πρόταση."),
    trap("The patients deserve help.", "Οι ασθενείς αξίζουν βοήθεια."),
    trap("Common policy has changed.", "Η κοινή πολιτική έχει αλλάξει."),
    trap("Every person has the right to speak.", "Κάθε πρόσωπο έχει το δικαίωμα να μιλήσει."),
    trap("I take the floor as president.", "Παίρνω τον λόγο ως πρόεδρος."),
)

ROWS = {"it": ITALIAN, "es": SPANISH, "de": GERMAN, "el": GREEK}
